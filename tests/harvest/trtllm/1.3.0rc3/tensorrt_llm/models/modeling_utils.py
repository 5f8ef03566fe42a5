import argparse
import copy
import dataclasses
import fnmatch
import json
import os
import re
from enum import IntFlag, auto
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Dict, Generator, List, Optional, Union
import numpy as np
import safetensors
import torch
from .._common import default_net
from .._utils import QuantModeWrapper, get_init_params, numpy_to_torch, release_gc, str_dtype_to_torch, str_dtype_to_trt, trt_dtype_to_torch
from ..bindings.executor import RuntimeDefaults
from ..functional import PositionEmbeddingType, Tensor, allgather, constant, cp_split_plugin, gather_last_token_logits, index_select, tanh, view
from ..layers import MLP, AttentionParams, Embedding, FusedGatedMLP, FusedRgLru, GatedMLP, KeyValueCacheParams, LoraParams, PromptTuningEmbedding, RgLru
from ..layers.attention import Attention, BertAttention
from ..layers.linear import ColumnLinear, Linear, RowLinear
from ..layers.lora import Dora, Lora
from ..layers.moe import MOE, MoeOOTB
from ..llmapi.kv_cache_type import KVCacheType
from ..logger import logger
from ..mapping import Mapping
from ..module import Module, ModuleList
from ..parameter import Parameter
from ..plugin import init_all_reduce_helper
from ..quantization import QuantMode
from ..quantization.functional import preprocess_weights_for_mixed_gemm
from ..quantization.layers import FP8Linear, Fp8RowwiseFusedGatedMLP, Fp8RowwiseGatedMLP, WeightOnlyGroupwiseQuantLinear, WeightOnlyGroupwiseQuantRowLinear, WeightOnlyQuantLinear, WeightOnlyQuantRowLinear
from ..quantization.mode import KV_CACHE_QUANT_ALGO_LIST, QUANT_ALGO_LIST, W8A8_SQ_PLUGIN_LIST, QuantAlgo
from ..quantization.utils import fp4_utils
from ..top_model_mixin import TopModelMixin
from .convert_utils import weight_only_quantize_dict
from .generation_mixin import GenerationMixin

class SpeculativeDecodingMode(IntFlag):
    NONE = auto()
    DRAFT_TOKENS_EXTERNAL = auto()
    MEDUSA = auto()
    LOOKAHEAD_DECODING = auto()
    EXPLICIT_DRAFT_TOKENS = auto()
    EAGLE = auto()
    NGRAM = auto()
    USER_PROVIDED = auto()
    SAVE_HIDDEN_STATES = auto()
    AUTO = auto()

@dataclasses.dataclass
class QuantConfig:
    quant_algo: Optional[QuantAlgo] = None
    kv_cache_quant_algo: Optional[QuantAlgo] = None
    group_size: int = 128
    smoothquant_val: float = 0.5
    clamp_val: Optional[List[float]] = None
    use_meta_recipe: bool = False
    has_zero_point: bool = False
    pre_quant_scale: bool = False
    exclude_modules: Optional[List[str]] = None
    mamba_ssm_cache_dtype: Optional[str] = None

@dataclasses.dataclass
class LayerQuantConfig(QuantConfig):
    quant_algo: Optional[QuantConfig] = None
    kv_cache_quant_algo: Optional[QuantConfig] = None
    quantized_layers: Optional[Dict[str, QuantConfig]] = None

class PretrainedConfig:
    pass

class PretrainedModel(Module, GenerationMixin, TopModelMixin, metaclass=PostInitCaller):
    pass
