import json
import math
import os
import shutil
import time
from pathlib import Path
from typing import Dict, Optional, Union
import numpy as np
import tensorrt as trt
from pydantic import BaseModel, Field
from ._common import _is_building, check_max_num_tokens, serialize_engine
from ._utils import get_sm_version, np_bfloat16, np_float8, str_dtype_to_trt, to_json_file, trt_gte
from .functional import PositionEmbeddingType
from .graph_rewriting import optimize
from .llmapi.kv_cache_type import KVCacheType
from .logger import logger
from .lora_helper import LoraConfig
from .models import PretrainedConfig, PretrainedModel
from .models.modeling_utils import SpeculativeDecodingMode, optimize_model
from .network import Network, net_guard
from .plugin import PluginConfig
from .quantization import QuantAlgo, QuantMode
from .version import __version__

class BuilderConfig(object):
    pass

class BuildConfig(BaseModel):
    max_input_len: int = Field(default=1024)
    max_seq_len: Optional[int] = Field(default=None)
    opt_batch_size: int = Field(default=8)
    max_batch_size: int = Field(default=2048)
    max_beam_width: int = Field(default=1)
    max_num_tokens: int = Field(default=8192)
    opt_num_tokens: Optional[int] = Field(default=None)
    max_prompt_embedding_table_size: int = Field(default=0)
    kv_cache_type: Optional[KVCacheType] = Field(default=None)
    gather_context_logits: bool = Field(default=False)
    gather_generation_logits: bool = Field(default=False)
    strongly_typed: bool = Field(default=True)
    force_num_profiles: Optional[int] = Field(default=None)
    profiling_verbosity: str = Field(default='layer_names_only')
    enable_debug_output: bool = Field(default=False)
    max_draft_len: int = Field(default=0)
    speculative_decoding_mode: SpeculativeDecodingMode = Field(default=SpeculativeDecodingMode.NONE)
    use_refit: bool = Field(default=False)
    input_timing_cache: Optional[str] = Field(default=None)
    output_timing_cache: str = Field(default='model.cache')
    lora_config: LoraConfig = Field(default_factory=LoraConfig)
    weight_sparsity: bool = Field(default=False)
    weight_streaming: bool = Field(default=False)
    plugin_config: PluginConfig = Field(default_factory=PluginConfig)
    use_strip_plan: bool = Field(default=False)
    max_encoder_input_len: int = Field(default=1024)
    dry_run: bool = Field(default=False)
    visualize_network: Optional[str] = Field(default=None)
    monitor_memory: bool = Field(default=False)
    use_mrope: bool = Field(default=False)

class EngineConfig:
    pass
