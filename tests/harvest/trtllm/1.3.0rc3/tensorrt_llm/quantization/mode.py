from enum import IntFlag, auto
from typing import Optional
from strenum import StrEnum
from .._utils import BaseEnumMeta

class QuantAlgo(StrEnum, metaclass=BaseEnumMeta):
    W8A16 = auto()
    W4A16 = auto()
    W4A16_AWQ = auto()
    W4A8_AWQ = auto()
    W8A16_GPTQ = auto()
    W4A16_GPTQ = auto()
    W8A8_SQ_PER_CHANNEL = auto()
    W8A8_SQ_PER_TENSOR_PLUGIN = auto()
    W8A8_SQ_PER_CHANNEL_PER_TOKEN_PLUGIN = auto()
    W8A8_SQ_PER_CHANNEL_PER_TENSOR_PLUGIN = auto()
    W8A8_SQ_PER_TENSOR_PER_TOKEN_PLUGIN = auto()
    W4A8_QSERVE_PER_GROUP = auto()
    W4A8_QSERVE_PER_CHANNEL = auto()
    FP8 = auto()
    FP8_PER_CHANNEL_PER_TOKEN = auto()
    FP8_BLOCK_SCALES = auto()
    INT8 = auto()
    MIXED_PRECISION = auto()
    NVFP4 = auto()
    W4A8_NVFP4_FP8 = auto()
    W4A8_MXFP4_FP8 = auto()
    W4A8_MXFP4_MXFP8 = auto()
    W4A16_MXFP4 = auto()
    NVFP4_AWQ = auto()
    NO_QUANT = auto()
QUANT_ALGO_LIST = list(set(QuantAlgo) - {QuantAlgo.INT8})
KV_CACHE_QUANT_ALGO_LIST = [QuantAlgo.FP8, QuantAlgo.INT8, QuantAlgo.NVFP4]
W8A8_SQ_PLUGIN_LIST = [QuantAlgo.W8A8_SQ_PER_TENSOR_PLUGIN, QuantAlgo.W8A8_SQ_PER_CHANNEL_PER_TOKEN_PLUGIN, QuantAlgo.W8A8_SQ_PER_CHANNEL_PER_TENSOR_PLUGIN, QuantAlgo.W8A8_SQ_PER_TENSOR_PER_TOKEN_PLUGIN]
MODELOPT_FLOW_QUANTIZATIONS = {QuantAlgo.W4A16_AWQ, QuantAlgo.FP8, QuantAlgo.W8A8_SQ_PER_CHANNEL, QuantAlgo.W4A8_AWQ}

class QuantMode(IntFlag):
    INT4_WEIGHTS = auto()
    INT8_WEIGHTS = auto()
    ACTIVATIONS = auto()
    PER_CHANNEL = auto()
    PER_TOKEN = auto()
    PER_GROUP = auto()
    INT8_KV_CACHE = auto()
    FP8_KV_CACHE = auto()
    FP8_QDQ = auto()
    FP8_ROWWISE = auto()
    FP8_1x128_128x128 = auto()
    W4A8_QSERVE = auto()
    NVFP4 = auto()
    NVFP4_KV_CACHE = auto()
    W4A8_NVFP4_FP8 = auto()
    W4A8_MXFP4_FP8 = auto()
    W4A8_MXFP4_MXFP8 = auto()
    W4A16_MXFP4 = auto()
    COUNT = auto()
    WEIGHTS_AND_ACTIVATIONS = INT4_WEIGHTS | INT8_WEIGHTS | ACTIVATIONS
    VALID_FLAGS = COUNT - 1

class GroupwiseQuantAlgo:
    BIAS = 1
    ZERO = 2
    PRE_QUANT_SCALE = 4
    W4A8_ALPHA = 8
    INT8_WEIGHT = 16
