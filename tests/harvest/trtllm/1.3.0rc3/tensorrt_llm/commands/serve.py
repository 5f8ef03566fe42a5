import asyncio
import gc
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Literal, Mapping, Optional, Sequence
import click
import torch
import yaml
from strenum import StrEnum
from tensorrt_llm import LLM as PyTorchLLM
from tensorrt_llm import MultimodalEncoder
from tensorrt_llm._tensorrt_engine import LLM
from tensorrt_llm._utils import mpi_rank
from tensorrt_llm.executor.utils import LlmLauncherEnvs
from tensorrt_llm.inputs.multimodal import MultimodalServerConfig
from tensorrt_llm.llmapi import BuildConfig, CapacitySchedulerPolicy, DynamicBatchConfig, KvCacheConfig, SchedulerConfig
from tensorrt_llm.llmapi.disagg_utils import DisaggClusterConfig, MetadataServerConfig, ServerRole, extract_disagg_cluster_config, parse_disagg_config_file, parse_metadata_server_config_file
from tensorrt_llm.llmapi.llm_utils import update_llm_args_with_extra_dict
from tensorrt_llm.llmapi.mpi_session import find_free_ipc_addr
from tensorrt_llm.llmapi.reasoning_parser import ReasoningParserFactory
from tensorrt_llm.logger import logger, severity_map
from tensorrt_llm.mapping import CpType
from tensorrt_llm.serve import OpenAIDisaggServer, OpenAIServer
from tensorrt_llm.serve.tool_parser import ToolParserFactory
from tensorrt_llm.tools.importlib_utils import import_custom_module_from_dir
_child_p_global: Optional[subprocess.Popen] = None

def launch_server(**options):
    llm_args.pop('build_config', None)
    llm_args.pop('build_config', None)
    llm_args.pop('backend')
    pass

def launch_grpc_server(**options):
    llm_args.pop('build_config', None)
    llm_args.pop('build_config', None)
    llm_args.pop('backend')
    pass

@click.command('serve')
@click.argument('model', type=str)
@click.option('--tokenizer', type=str, default=None)
@click.option('--custom_tokenizer', type=str, default=None)
@click.option('--host', type=str, default='localhost')
@click.option('--port', type=int, default=8000)
@click.option('--backend', type=ChoiceWithAlias(['pytorch', 'tensorrt', '_autodeploy'], {'trt': 'tensorrt'}), default='pytorch')
@click.option('--enable-xqa-jit', is_flag=True, default=False)
@click.option('--disable-xqa-jit', is_flag=True, default=False)
@click.option('--custom_module_dirs', type=click.Path(exists=True, readable=True, path_type=Path, resolve_path=True), default=None, multiple=True)
@click.option('--log_level', type=click.Choice(severity_map.keys()), default='info')
@click.option('--max_beam_width', type=int, default=BuildConfig.model_fields['max_beam_width'].default)
@click.option('--max_batch_size', type=int, default=BuildConfig.model_fields['max_batch_size'].default)
@click.option('--max_num_tokens', type=int, default=BuildConfig.model_fields['max_num_tokens'].default)
@click.option('--max_seq_len', type=int, default=BuildConfig.model_fields['max_seq_len'].default)
@click.option('--tensor_parallel_size', '--tp_size', type=int, default=1)
@click.option('--pipeline_parallel_size', '--pp_size', type=int, default=1)
@click.option('--context_parallel_size', '--cp_size', type=int, default=1)
@click.option('--moe_expert_parallel_size', '--ep_size', type=int, default=None)
@click.option('--moe_cluster_parallel_size', '--cluster_size', type=int, default=None)
@click.option('--gpus_per_node', type=int, default=None)
@click.option('--free_gpu_memory_fraction', '--kv_cache_free_gpu_memory_fraction', type=float, default=0.9)
@click.option('--num_postprocess_workers', type=int, default=0)
@click.option('--trust_remote_code', is_flag=True, default=False)
@click.option('--revision', type=str, default=None)
@click.option('--config', '--extra_llm_api_options', 'extra_llm_api_options', type=str, default=None)
@click.option('--reasoning_parser', type=click.Choice(ReasoningParserFactory.parsers.keys()), default=None)
@click.option('--tool_parser', type=click.Choice(ToolParserFactory.parsers.keys()), default=None)
@click.option('--metadata_server_config_file', type=str, default=None)
@click.option('--server_role', type=str, default=None)
@click.option('--fail_fast_on_attention_window_too_large', is_flag=True, default=False)
@click.option('--otlp_traces_endpoint', type=str, default=None)
@click.option('--disagg_cluster_uri', type=str, default=None)
@click.option('--enable_chunked_prefill', is_flag=True, default=False)
@click.option('--media_io_kwargs', type=str, default=None)
@click.option('--chat_template', type=str, default=None)
@click.option('--grpc', is_flag=True, default=False)
def serve(**options):
    llm_args.pop('disagg_cluster', None)
    pass

@click.command('mm_embedding_serve')
@click.argument('model', type=str)
@click.option('--host', type=str, default='localhost')
@click.option('--port', type=int, default=8000)
@click.option('--log_level', type=click.Choice(severity_map.keys()), default='info')
@click.option('--max_batch_size', type=int, default=BuildConfig.model_fields['max_batch_size'].default)
@click.option('--max_num_tokens', type=int, default=16384)
@click.option('--gpus_per_node', type=int, default=None)
@click.option('--trust_remote_code', is_flag=True, default=False)
@click.option('--extra_encoder_options', type=str, default=None)
@click.option('--metadata_server_config_file', type=str, default=None)
def serve_encoder(**options):
    pass

@click.command('disaggregated')
@click.option('-c', '--config_file', type=str, default=None)
@click.option('-m', '--metadata_server_config_file', type=str, default=None)
@click.option('-t', '--server_start_timeout', type=int, default=180)
@click.option('-r', '--request_timeout', type=int, default=180)
@click.option('-l', '--log_level', type=click.Choice(severity_map.keys()), default='info')
@click.option('--metrics-log-interval', type=int, default=0)
def disaggregated(**options):
    pass

@click.command('disaggregated_mpi_worker')
@click.option('-c', '--config_file', type=str, default=None)
@click.option('--log_level', type=click.Choice(severity_map.keys()), default='info')
def disaggregated_mpi_worker(**options):
    llm_args.pop('router', None)
    pass
main = DefaultGroup(commands={'serve': serve, 'disaggregated': disaggregated, 'disaggregated_mpi_worker': disaggregated_mpi_worker, 'mm_embedding_serve': serve_encoder})
