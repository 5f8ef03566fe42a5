import argparse
import ctypes
import os
import platform
from enum import IntEnum
from pathlib import Path
from typing import Any, List, Literal, Optional, Tuple, Union, get_args, get_origin
import tensorrt as trt
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, field_validator
from .._ipc_utils import IpcMemory, can_access_peer
from .._utils import get_sm_version
from ..bindings.internal.runtime import lamport_initialize, lamport_initialize_all, max_workspace_size_lowprecision
from ..logger import logger
from ..mapping import Mapping
TRT_LLM_PLUGIN_NAMESPACE = 'tensorrt_llm'

class ContextFMHAType(IntEnum):
    disabled = 0
    enabled = 1
    enabled_with_fp32_acc = 2
DefaultPluginDtype = Literal['auto', 'float16', 'float32', 'bfloat16', 'int32', None]

class PluginConfig(BaseModel):
    model_config = ConfigDict(validate_assignment=True, extra='ignore')
    dtype: str = Field(default='float16')
    bert_attention_plugin: Optional[DefaultPluginDtype] = Field(default='auto')
    gpt_attention_plugin: Optional[DefaultPluginDtype] = Field(default='auto')
    gemm_plugin: Optional[Literal['auto', 'float16', 'float32', 'bfloat16', 'int32', 'fp8', 'nvfp4', None]] = Field(default=None)
    _explicitly_disable_gemm_plugin: bool = PrivateAttr(default=False)
    gemm_swiglu_plugin: Optional[Literal['fp8', None]] = Field(default=None)
    fp8_rowwise_gemm_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    qserve_gemm_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    identity_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    nccl_plugin: Optional[DefaultPluginDtype] = Field(default='auto')
    lora_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    dora_plugin: bool = Field(default=False)
    weight_only_groupwise_quant_matmul_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    weight_only_quant_matmul_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    smooth_quant_plugins: bool = Field(default=True)
    smooth_quant_gemm_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    layernorm_quantization_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    rmsnorm_quantization_plugin: Optional[DefaultPluginDtype] = Field(default=None)
    quantize_per_token_plugin: bool = Field(default=False)
    quantize_tensor_plugin: bool = Field(default=False)
    moe_plugin: Optional[DefaultPluginDtype] = Field(default='auto')
    mamba_conv1d_plugin: Optional[DefaultPluginDtype] = Field(default='auto')
    low_latency_gemm_plugin: Optional[Literal['fp8', None]] = Field(default=None)
    low_latency_gemm_swiglu_plugin: Optional[Literal['fp8', None]] = Field(default=None)
    gemm_allreduce_plugin: Optional[Literal['float16', 'bfloat16', None]] = Field(default=None)
    context_fmha: bool = Field(default=True)
    bert_context_fmha_fp32_acc: bool = Field(default=False)
    paged_kv_cache: Optional[bool] = Field(default=None)
    remove_input_padding: bool = Field(default=True)
    norm_quant_fusion: bool = Field(default=False)
    reduce_fusion: bool = Field(default=False)
    user_buffer: bool = Field(default=False)
    tokens_per_block: int = Field(default=32)
    use_paged_context_fmha: bool = Field(default=True)
    use_fp8_context_fmha: bool = Field(default=True)
    fuse_fp4_quant: bool = Field(default=False)
    multiple_profiles: bool = Field(default=False)
    paged_state: bool = Field(default=True)
    streamingllm: bool = Field(default=False)
    manage_weights: bool = Field(default=False)
    use_fused_mlp: bool = Field(default=True)
    pp_reduce_scatter: bool = Field(default=False)

    @field_validator('*', mode='before')
    @classmethod
    def convert_enable_disable(cls, value, info: ValidationInfo):
        pass
cli_plugin_args = ['bert_attention_plugin', 'gpt_attention_plugin', 'gemm_plugin', 'gemm_swiglu_plugin', 'fp8_rowwise_gemm_plugin', 'lora_plugin', 'dora_plugin', 'moe_plugin', 'mamba_conv1d_plugin', 'nccl_plugin', 'low_latency_gemm_plugin', 'low_latency_gemm_swiglu_plugin', 'gemm_allreduce_plugin', 'context_fmha', 'bert_context_fmha_fp32_acc', 'remove_input_padding', 'tokens_per_block', 'use_paged_context_fmha', 'use_fp8_context_fmha', 'fuse_fp4_quant', 'multiple_profiles', 'paged_state', 'streamingllm', 'norm_quant_fusion', 'reduce_fusion', 'user_buffer', 'use_fused_mlp', 'pp_reduce_scatter']
custom_all_reduce_helper = None
