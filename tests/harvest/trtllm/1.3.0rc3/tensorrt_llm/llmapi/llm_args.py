import ast
import functools
import json
import math
import os
import types
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, EnumMeta
from pathlib import Path
from typing import Any, ClassVar, Dict, List, Literal, Optional, Set, Tuple, Type, TypeAlias, TypeVar, Union, get_args, get_origin
import torch
import yaml
from pydantic import AliasChoices, BaseModel
from pydantic import Field as PydanticField
from pydantic import PrivateAttr, field_validator, model_validator
from strenum import StrEnum
from tensorrt_llm.lora_helper import LoraConfig, get_default_trtllm_modules_to_hf_modules
from .._utils import mpi_rank
from ..bindings.executor import BatchingType as _BatchingType, CacheTransceiverBackendType as _CacheTransceiverBackendType, CacheTransceiverConfig as _CacheTransceiverConfig, CapacitySchedulerPolicy as _CapacitySchedulerPolicy, ContextChunkingPolicy as _ContextChunkingPolicy, DecodingConfig, DecodingMode, DynamicBatchConfig as _DynamicBatchConfig, EagleConfig as _EagleConfig, ExecutorConfig as _ExecutorConfig, ExtendedRuntimePerfKnobConfig as _ExtendedRuntimePerfKnobConfig, KvCacheConfig as _KvCacheConfig, LookaheadDecodingConfig as _LookaheadDecodingConfig, PeftCacheConfig as _PeftCacheConfig, SchedulerConfig as _SchedulerConfig
from ..builder import BuildConfig, EngineConfig
from ..logger import logger
from ..mapping import Mapping
from ..models.automodel import AutoConfig
from ..models.modeling_utils import PretrainedConfig, QuantAlgo, QuantConfig, SpeculativeDecodingMode
from ..sampling_params import BatchedLogitsProcessor
from .build_cache import BuildCacheConfig
from .tokenizer import TokenizerBase, tokenizer_factory
from .utils import generate_api_docs_as_docstring, get_type_repr
TypeBaseModel = TypeVar('T', bound=BaseModel)

def Field(default: Any=..., *, status: Optional[Literal['prototype', 'beta', 'deprecated']]=None, **kwargs: Any) -> Any:
    """Custom Field wrapper that adds status to json_schema_extra.

    Args:
        default: The default value for the field
        status: Optional status indicator that gets added to json_schema_extra.
            - None: Stable.
            - "beta": Recommended for use per the latest documentation.
            - "prototype": Not yet stable and subject to breaking changes; intended for experimentation only.
        **kwargs: All other arguments passed to the original Pydantic Field

    Returns:
        A Pydantic FieldInfo object with the status added to json_schema_extra if provided
    """
    if status is not None:
        json_schema_extra = kwargs.get('json_schema_extra', {})
        if isinstance(json_schema_extra, dict):
            json_schema_extra['status'] = status
        else:
            json_schema_extra = {'status': status}
        kwargs['json_schema_extra'] = json_schema_extra
    return PydanticField(default, **kwargs)

class StrictBaseModel(BaseModel):

    class Config:
        extra = 'forbid'

class CudaGraphConfig(StrictBaseModel):
    batch_sizes: Optional[List[int]] = Field(default=None)
    max_batch_size: int = Field(default=0)
    enable_padding: bool = Field(default=False)

class GuidedDecodingConfig(StrictBaseModel):

    class GuidedDecodingBackend(Enum):
        XGRAMMAR = 0
        LLGUIDANCE = 1
    backend: GuidedDecodingBackend = Field(default=GuidedDecodingBackend.XGRAMMAR)
    encoded_vocab: Optional[List[str]] = Field(default=None)
    tokenizer_str: Optional[str] = Field(default=None)
    stop_token_ids: Optional[List[int]] = Field(default=None)

class BaseSparseAttentionConfig(StrictBaseModel):
    seq_len_threshold: Optional[int] = Field(default=None)

    @classmethod
    def from_dict(cls, data: dict):
        config_classes = {'rocket': RocketSparseAttentionConfig, 'dsa': DeepSeekSparseAttentionConfig, 'skip_softmax': SkipSoftmaxAttentionConfig}
        algorithm = data.get('algorithm', None)
        config_class = config_classes.get(algorithm.lower())

class RocketSparseAttentionConfig(BaseSparseAttentionConfig):
    algorithm: ClassVar[str] = 'rocket'
    window_size: Optional[int] = Field(default=32)
    kernel_size: Optional[int] = Field(default=63)
    topr: Optional[Union[int, float]] = Field(default=128)
    topk: Optional[int] = Field(default=64)
    prompt_budget: Optional[int] = Field(default=2048)
    page_size: Optional[int] = Field(default=4)
    kt_cache_dtype: Optional[str] = Field(default='float8_e5m2', choices=['bfloat16', 'float8_e5m2'])

class DeepSeekSparseAttentionConfig(BaseSparseAttentionConfig):
    algorithm: ClassVar[str] = 'dsa'
    index_n_heads: Optional[int] = Field(default=None)
    index_head_dim: Optional[int] = Field(default=None)
    index_topk: Optional[int] = Field(default=None)
    indexer_max_chunk_size: Optional[int] = Field(default=None)
    skip_indexer_for_short_seqs: bool = Field(default=True)

class SkipSoftmaxAttentionConfig(BaseSparseAttentionConfig):
    algorithm: ClassVar[str] = 'skip_softmax'
    threshold_scale_factor: Optional[Union[float, Dict[str, float]]] = Field(default=None)

class MoeLoadBalancerConfig(StrictBaseModel):
    num_slots: Optional[int] = None
    initial_global_assignments: Optional[Dict[int, List[int]]] = Field(default=None, repr=False)
    layer_updates_per_iter: int = 0
    _ep_rank: Optional[int] = PrivateAttr(default=None)
    _ep_size: Optional[int] = PrivateAttr(default=None)

class MoeConfig(StrictBaseModel):
    backend: Literal['AUTO', 'CUTLASS', 'CUTEDSL', 'WIDEEP', 'TRTLLM', 'DEEPGEMM', 'VANILLA', 'TRITON'] = Field(default='AUTO')
    max_num_tokens: Optional[int] = Field(default=None)
    load_balancer: Optional[Union[object, str]] = Field(default=None)
    disable_finalize_fusion: bool = Field(default=False)
    use_low_precision_moe_combine: bool = Field(default=False)

class Nvfp4GemmConfig(StrictBaseModel):
    allowed_backends: List[str] = Field(default=['cutlass', 'cublaslt', 'cuda_core'])

class AttentionDpConfig(StrictBaseModel):
    enable_balance: bool = Field(default=False)
    timeout_iters: int = Field(default=50)
    batching_wait_iters: int = Field(default=10)

class _ParallelConfig(StrictBaseModel):
    tp_size: int = 1
    pp_size: int = 1
    cp_size: int = 1
    gpus_per_node: int = 8
    moe_cluster_size: int = -1
    moe_tp_size: int = -1
    moe_ep_size: int = -1
    cp_config: dict = Field(default_factory=dict)
    pp_partition: Optional[List[int]] = Field(default=None)
    enable_attention_dp: bool = False
    enable_lm_head_tp_in_adp: bool = False
    _devices: Optional[List[int]] = PrivateAttr(default=None)

class CalibConfig(StrictBaseModel):
    device: Literal['cuda', 'cpu'] = Field(default='cuda')
    calib_dataset: str = Field(default='cnn_dailymail')
    calib_batches: int = Field(default=512)
    calib_batch_size: int = Field(default=1)
    calib_max_seq_length: int = Field(default=512)
    random_seed: int = Field(default=1234)
    tokenizer_max_seq_length: int = Field(default=2048)

class _ModelFormatKind(Enum):
    HF = 0
    TLLM_CKPT = 1
    TLLM_ENGINE = 2

class DecodingBaseConfig(StrictBaseModel):
    max_draft_len: Optional[int] = None
    max_total_draft_tokens: Optional[int] = None
    speculative_model: Optional[Union[str, Path]] = Field(default=None, validation_alias=AliasChoices('speculative_model', 'speculative_model_dir'))
    max_concurrency: Optional[int] = None
    draft_len_schedule: Optional[dict[int, int]] = None
    load_format: Optional[str] = None
    acceptance_window: Optional[int] = None
    acceptance_length_threshold: Optional[float] = None
    allow_advanced_sampling: bool = False
    _allow_chain_drafter: bool = PrivateAttr(True)
    _allow_greedy_draft_tokens: bool = PrivateAttr(True)
    _decoding_type_alias: Optional[str] = PrivateAttr(default=None)

    @classmethod
    def from_dict(cls, data: dict, backend: Optional[str]=None):
        config_classes = {'MTP': MTPDecodingConfig, 'Medusa': MedusaDecodingConfig, 'Eagle': EagleDecodingConfig, 'Eagle3': Eagle3DecodingConfig, 'Lookahead': LookaheadDecodingConfig, 'NGram': NGramDecodingConfig, 'DraftTarget': DraftTargetDecodingConfig, 'SaveState': SaveHiddenStatesDecodingConfig, 'UserProvided': UserProvidedDecodingConfig, 'AUTO': AutoDecodingConfig}
        decoding_type = data.get('decoding_type')
        config_class = config_classes.get(decoding_type)

class KvCacheConnectorConfig(StrictBaseModel):
    connector_module: str = Field(...)
    connector_scheduler_class: str = Field(...)
    connector_worker_class: str = Field(...)

class LayerwiseBenchmarksConfig(StrictBaseModel):
    calibration_mode: Literal['NONE', 'MARK', 'COLLECT'] = Field(default='NONE')
    calibration_file_path: Optional[str] = Field(default=None)
    calibration_layer_indices: Optional[List[int]] = Field(default=None)

class MedusaDecodingConfig(DecodingBaseConfig):
    medusa_choices: Optional[List[List[int]]] = None
    num_medusa_heads: Optional[int] = None
    decoding_type: ClassVar[str] = 'Medusa'

class EagleDecodingConfig(DecodingBaseConfig):
    eagle_choices: Optional[List[List[int]]] = None
    greedy_sampling: Optional[bool] = True
    posterior_threshold: Optional[float] = None
    use_dynamic_tree: Optional[bool] = False
    dynamic_tree_max_topK: Optional[int] = None
    num_eagle_layers: Optional[int] = None
    max_non_leaves_per_layer: Optional[int] = None
    eagle3_one_model: Optional[bool] = True
    eagle3_layers_to_capture: Optional[Set[int]] = None
    eagle3_model_arch: str = 'llama3'

    @field_validator('eagle_choices', mode='before')
    @classmethod
    def validate_eagle_choices(cls, v):
        pass
    decoding_type: ClassVar[str] = 'Eagle'

class Eagle3DecodingConfig(EagleDecodingConfig):
    decoding_type: ClassVar[str] = 'Eagle3'

class SaveHiddenStatesDecodingConfig(DecodingBaseConfig):
    output_directory: str
    write_interval: int = 20
    file_prefix: str = 'data'
    eagle3_layers_to_capture: Optional[Set[int]] = None
    max_total_draft_tokens: Optional[int] = Field(default=1, init=False)
    eagle_choices: Optional[List[List[int]]] = Field(default=None, init=False)
    decoding_type: ClassVar[str] = 'SaveState'

class UserProvidedDecodingConfig(DecodingBaseConfig):
    drafter: object
    resource_manager: object = None
    decoding_type: ClassVar[str] = 'User_Provided'

class NGramDecodingConfig(DecodingBaseConfig):
    max_matching_ngram_size: int = 0
    is_keep_all: bool = True
    is_use_oldest: bool = True
    is_public_pool: bool = True
    decoding_type: ClassVar[str] = 'NGram'

class DraftTargetDecodingConfig(DecodingBaseConfig):
    decoding_type: ClassVar[str] = 'Draft_Target'

class MTPDecodingConfig(DecodingBaseConfig):
    num_nextn_predict_layers: int = 1
    use_relaxed_acceptance_for_thinking: bool = False
    relaxed_topk: int = 1
    relaxed_delta: float = 0.0
    use_mtp_vanilla: bool = False
    mtp_eagle_one_model: bool = True
    num_nextn_predict_layers_from_model_config: int = 1
    begin_thinking_phase_token: int = 128798
    end_thinking_phase_token: int = 128799
    decoding_type: ClassVar[str] = 'MTP'

class AutoDecodingConfig(DecodingBaseConfig):
    decoding_type: ClassVar[str] = 'AUTO'

class RayPlacementConfig(StrictBaseModel):
    defer_workers_init: bool = Field(default=False)
    placement_groups: Optional[List[Any]] = Field(default=None)
    placement_bundle_indices: Optional[List[List[int]]] = Field(default=None)
    per_worker_gpu_share: Optional[float] = Field(default=None)

class PybindMirror(ABC):

    @staticmethod
    def get_pybind_enum_fields(pybind_class):
        """ Get all the enum fields from the pybind class. """
        return [f for f in pybind_class.__members__.keys() if not f.startswith('_') and (not callable(getattr(pybind_class, f)))]

    @staticmethod
    def mirror_pybind_enum(pybind_class):
        """ Mirror the enum fields from the pybind class to the Python class. """

        def decorator(cls):
            assert issubclass(cls, Enum)
            cpp_fields = PybindMirror.get_pybind_enum_fields(pybind_class)
            python_fields = set(cls.__members__.keys())
            for field in cpp_fields:
                if field not in python_fields:
                    raise ValueError(f'Field {field} is not mirrored in Python class {cls.__name__} from C++ class {pybind_class.__name__}. Please update the class.')
            return cls
        return decorator

@PybindMirror.mirror_pybind_enum(_BatchingType)
class BatchingType(StrEnum, metaclass=PybindMirrorEnumMeta):
    STATIC = 'STATIC'
    INFLIGHT = 'INFLIGHT'

@PybindMirror.mirror_pybind_enum(_CapacitySchedulerPolicy)
class CapacitySchedulerPolicy(StrEnum, metaclass=PybindMirrorEnumMeta):
    MAX_UTILIZATION = 'MAX_UTILIZATION'
    GUARANTEED_NO_EVICT = 'GUARANTEED_NO_EVICT'
    STATIC_BATCH = 'STATIC_BATCH'

@PybindMirror.mirror_pybind_enum(_ContextChunkingPolicy)
class ContextChunkingPolicy(StrEnum, metaclass=PybindMirrorEnumMeta):
    FIRST_COME_FIRST_SERVED = 'FIRST_COME_FIRST_SERVED'
    EQUAL_PROGRESS = 'EQUAL_PROGRESS'

@PybindMirror.mirror_pybind_fields(_DynamicBatchConfig)
class DynamicBatchConfig(StrictBaseModel, PybindMirror):
    enable_batch_size_tuning: bool = Field()
    enable_max_num_tokens_tuning: bool = Field()
    dynamic_batch_moving_average_window: int = Field()

@PybindMirror.mirror_pybind_fields(_SchedulerConfig)
class SchedulerConfig(StrictBaseModel, PybindMirror):
    capacity_scheduler_policy: CapacitySchedulerPolicy = Field(default=CapacitySchedulerPolicy.GUARANTEED_NO_EVICT)
    context_chunking_policy: Optional[ContextChunkingPolicy] = Field(default=None)
    dynamic_batch_config: Optional[DynamicBatchConfig] = Field(default=None)

@PybindMirror.mirror_pybind_fields(_PeftCacheConfig)
class PeftCacheConfig(StrictBaseModel, PybindMirror):
    num_host_module_layer: int = Field(default=0)
    num_device_module_layer: int = Field(default=0)
    optimal_adapter_size: int = Field(default=8)
    max_adapter_size: int = Field(default=64)
    num_put_workers: int = Field(default=1)
    num_ensure_workers: int = Field(default=1)
    num_copy_streams: int = Field(default=1)
    max_pages_per_block_host: int = Field(default=24)
    max_pages_per_block_device: int = Field(default=8)
    device_cache_percent: float = Field(default=0.02)
    host_cache_size: int = Field(default=1024 ** 3)
    lora_prefetch_dir: Optional[str] = Field(default=None)

@PybindMirror.mirror_pybind_fields(_LookaheadDecodingConfig)
class LookaheadDecodingConfig(DecodingBaseConfig, PybindMirror):
    max_window_size: int = Field(default=_LookaheadDecodingConfig.get_default_lookahead_decoding_window())
    max_ngram_size: int = Field(default=_LookaheadDecodingConfig.get_default_lookahead_decoding_ngram())
    max_verification_set_size: int = Field(default=_LookaheadDecodingConfig.get_default_lookahead_decoding_verification_set())
    decoding_type: ClassVar[str] = 'Lookahead'
SpeculativeConfig: TypeAlias = Optional[Union[DraftTargetDecodingConfig, EagleDecodingConfig, LookaheadDecodingConfig, MedusaDecodingConfig, MTPDecodingConfig, NGramDecodingConfig, UserProvidedDecodingConfig, SaveHiddenStatesDecodingConfig, AutoDecodingConfig]]
SparseAttentionConfig: TypeAlias = Union[RocketSparseAttentionConfig, DeepSeekSparseAttentionConfig, SkipSoftmaxAttentionConfig]

@PybindMirror.mirror_pybind_fields(_KvCacheConfig)
class KvCacheConfig(StrictBaseModel, PybindMirror):
    enable_block_reuse: bool = Field(default=True)
    max_tokens: Optional[int] = Field(default=None)
    max_attention_window: Optional[List[int]] = Field(default=None)
    sink_token_length: Optional[int] = Field(default=None)
    free_gpu_memory_fraction: Optional[float] = Field(default=0.9)
    host_cache_size: Optional[int] = Field(default=None)
    onboard_blocks: bool = Field(default=True)
    cross_kv_cache_fraction: Optional[float] = Field(default=None)
    secondary_offload_min_priority: Optional[int] = Field(default=None)
    event_buffer_max_size: int = Field(default=0)
    attention_dp_events_gather_period_ms: int = Field(default=5)
    enable_partial_reuse: bool = Field(default=True)
    copy_on_partial_reuse: bool = Field(default=True)
    use_uvm: bool = Field(default=False)
    max_gpu_total_bytes: int = Field(default=0)
    dtype: str = Field(default='auto')
    mamba_ssm_cache_dtype: Literal['auto', 'float16', 'bfloat16', 'float32'] = Field(default='auto')
    tokens_per_block: int = Field(default=32)
    use_kv_cache_manager_v2: bool = Field(default=False)
    max_util_for_resume: float = Field(default=0.95)

@PybindMirror.mirror_pybind_fields(_ExtendedRuntimePerfKnobConfig)
class ExtendedRuntimePerfKnobConfig(StrictBaseModel, PybindMirror):
    multi_block_mode: bool = Field(default=True)
    enable_context_fmha_fp32_acc: bool = Field(default=False)
    cuda_graph_mode: bool = Field(default=False)
    cuda_graph_cache_size: int = Field(default=0)

@PybindMirror.mirror_pybind_fields(_CacheTransceiverConfig)
class CacheTransceiverConfig(StrictBaseModel, PybindMirror):
    backend: Optional[Literal['DEFAULT', 'UCX', 'NIXL', 'MOONCAKE', 'MPI']] = Field(default=None)
    max_tokens_in_buffer: Optional[int] = Field(default=None)
    kv_transfer_timeout_ms: Optional[int] = Field(default=None, gt=0)
    kv_transfer_sender_future_timeout_ms: Optional[int] = Field(default=1000, gt=0)

class BaseLlmArgs(StrictBaseModel):
    model_config = {'arbitrary_types_allowed': True, 'extra': 'forbid'}
    model: Union[str, Path] = Field()
    tokenizer: Optional[Union[str, Path, TokenizerBase, PreTrainedTokenizerBase]] = Field(default=None)
    tokenizer_mode: Literal['auto', 'slow'] = Field(default='auto')
    custom_tokenizer: Optional[str] = Field(default=None)
    skip_tokenizer_init: bool = Field(default=False)
    trust_remote_code: bool = Field(default=False)
    tensor_parallel_size: int = Field(default=1)
    dtype: str = Field(default='auto')
    revision: Optional[str] = Field(default=None)
    tokenizer_revision: Optional[str] = Field(default=None)
    model_kwargs: Optional[Dict[str, Any]] = Field(default=None)
    pipeline_parallel_size: int = Field(default=1)
    context_parallel_size: int = Field(default=1)
    gpus_per_node: Optional[int] = Field(default=None, validate_default=True)
    moe_cluster_parallel_size: Optional[int] = Field(default=None)
    moe_tensor_parallel_size: Optional[int] = Field(default=None)
    moe_expert_parallel_size: Optional[int] = Field(default=None)
    enable_attention_dp: bool = Field(default=False)
    enable_lm_head_tp_in_adp: bool = Field(default=False)
    pp_partition: Optional[List[int]] = Field(default=None)
    cp_config: Optional[dict] = Field(default_factory=dict)
    load_format: Literal['auto', 'dummy'] = Field(default='auto')
    fail_fast_on_attention_window_too_large: bool = Field(default=False)
    enable_lora: bool = Field(default=False)
    lora_config: Optional[LoraConfig] = Field(default=None)
    kv_cache_config: KvCacheConfig = Field(default_factory=KvCacheConfig)
    enable_chunked_prefill: bool = Field(default=False)
    guided_decoding_backend: Optional[Literal['xgrammar', 'llguidance']] = Field(default=None)
    batched_logits_processor: Optional[object] = Field(default=None)
    iter_stats_max_iterations: Optional[int] = Field(default=None)
    request_stats_max_iterations: Optional[int] = Field(default=None)
    peft_cache_config: Optional[PeftCacheConfig] = Field(default=None)
    scheduler_config: SchedulerConfig = Field(default_factory=SchedulerConfig)
    cache_transceiver_config: Optional[CacheTransceiverConfig] = Field(default=None)
    sparse_attention_config: Optional[SparseAttentionConfig] = Field(default=None)
    speculative_config: SpeculativeConfig = Field(default=None)
    max_batch_size: Optional[int] = Field(default=None)
    max_input_len: Optional[int] = Field(default=None)
    max_seq_len: Optional[int] = Field(default=None)
    max_beam_width: Optional[int] = Field(default=None)
    max_num_tokens: Optional[int] = Field(default=8192)
    gather_generation_logits: bool = Field(default=False)
    num_postprocess_workers: int = Field(default=0)
    postprocess_tokenizer_dir: Optional[str] = Field(default=None)
    reasoning_parser: Optional[str] = Field(default=None)
    decoding_config: Optional[object] = Field(default=None, status='deprecated', deprecated='Use speculative_config instead.')
    mpi_session: Optional[object] = Field(default=None, exclude=True, alias='_mpi_session')
    otlp_traces_endpoint: Optional[str] = Field(default=None, alias='otlp_traces_endpoint')
    backend: Optional[str] = Field(default=None, exclude_json_schema=True, validate_default=True, status='deprecated')
    return_perf_metrics: bool = Field(default=False)
    perf_metrics_max_requests: int = Field(default=0)
    orchestrator_type: Optional[Literal['rpc', 'ray']] = Field(default=None)
    env_overrides: Optional[Dict[str, str]] = Field(default=None)

    @field_validator('env_overrides', mode='before')
    @classmethod
    def coerce_env_overrides_to_str(cls, v):
        pass
    _parallel_config: Optional[_ParallelConfig] = PrivateAttr(default=None)
    _model_format: Optional[_ModelFormatKind] = PrivateAttr(default=None)

    @field_validator('gpus_per_node', mode='before')
    @classmethod
    def validate_gpus_per_node(cls, v, info):
        pass

class TrtLlmArgs(BaseLlmArgs):
    enable_tqdm: bool = Field(default=False)
    workspace: Optional[str] = Field(default=None)
    enable_build_cache: object = Field(default=False)
    extended_runtime_perf_knob_config: Optional[ExtendedRuntimePerfKnobConfig] = Field(default=None)
    calib_config: Optional[CalibConfig] = Field(default=None, validate_default=True)
    quant_config: Optional[QuantConfig] = Field(default=None, validate_default=True)
    embedding_parallel_mode: str = Field(default='SHARDING_ALONG_VOCAB')
    fast_build: bool = Field(default=False)
    build_config: Optional[BuildConfig] = Field(default=None)
    enable_prompt_adapter: bool = Field(default=False)
    max_prompt_adapter_token: int = Field(default=0)
    batching_type: Optional[BatchingType] = Field(default=None)
    normalize_log_probs: bool = Field(default=False)
    _convert_checkpoint_options: Dict[str, Any] = PrivateAttr(default_factory=dict)

    @field_validator('calib_config', mode='before')
    @classmethod
    def init_calib_config(cls, v):
        pass

    @field_validator('quant_config', mode='before')
    @classmethod
    def validate_quant_config(cls, v, info):
        pass

class LoadFormat(Enum):
    AUTO = 0
    DUMMY = 1
    VISION_ONLY = 2

class SamplerType(StrEnum):
    TRTLLMSampler = 'TRTLLMSampler'
    TorchSampler = 'TorchSampler'
    auto = 'auto'

class TorchCompileConfig(StrictBaseModel):
    enable_fullgraph: bool = Field(default=True)
    enable_inductor: bool = Field(default=False)
    enable_piecewise_cuda_graph: bool = Field(default=False)
    capture_num_tokens: Optional[List[int]] = Field(default=None)
    enable_userbuffers: bool = Field(default=True)
    max_num_streams: int = Field(default=1)

class TorchLlmArgs(BaseLlmArgs):
    garbage_collection_gen0_threshold: int = Field(default=20000)
    cuda_graph_config: Optional[CudaGraphConfig] = Field(default_factory=CudaGraphConfig)
    attention_dp_config: Optional[AttentionDpConfig] = Field(default=None)
    disable_overlap_scheduler: bool = Field(default=False)
    moe_config: MoeConfig = Field(default_factory=MoeConfig)
    nvfp4_gemm_config: Nvfp4GemmConfig = Field(default_factory=Nvfp4GemmConfig)
    attn_backend: str = Field(default='TRTLLM')
    sampler_type: Union[str, SamplerType] = Field(default=SamplerType.auto)
    sampler_force_async_worker: bool = Field(default=False)
    enable_iter_perf_stats: bool = Field(default=False)
    enable_iter_req_stats: bool = Field(default=False)
    print_iter_log: bool = Field(default=False)
    batch_wait_timeout_ms: float = Field(default=0)
    batch_wait_timeout_iters: int = Field(default=0)
    batch_wait_max_tokens_ratio: float = Field(default=0)
    torch_compile_config: Optional[TorchCompileConfig] = Field(default=None)
    enable_autotuner: bool = Field(default=True)
    enable_layerwise_nvtx_marker: bool = Field(default=False)
    load_format: Union[str, LoadFormat] = Field(default=LoadFormat.AUTO)
    enable_min_latency: bool = Field(default=False)
    stream_interval: int = Field(default=1)
    force_dynamic_quantization: bool = Field(default=False)
    allreduce_strategy: Optional[Literal['AUTO', 'NCCL', 'UB', 'MINLATENCY', 'ONESHOT', 'TWOSHOT', 'LOWPRECISION', 'MNNVL', 'NCCL_SYMMETRIC']] = Field(default='AUTO')
    checkpoint_loader: Optional[object] = Field(default=None)
    checkpoint_format: Optional[str] = Field(default=None)
    kv_connector_config: Optional[KvCacheConnectorConfig] = Field(default=None)
    mm_encoder_only: bool = Field(default=False)
    ray_worker_extension_cls: Optional[str] = Field(default=None)
    ray_placement_config: Optional[RayPlacementConfig] = Field(default=None, exclude=True)
    enable_sleep: bool = Field(default=False)
    _quant_config: Optional[QuantConfig] = PrivateAttr(default=None)
    disable_flashinfer_sampling: bool = Field(default=False)
    max_stats_len: int = Field(default=1000)
    layer_wise_benchmarks_config: LayerwiseBenchmarksConfig = Field(default_factory=LayerwiseBenchmarksConfig)

    @field_validator('backend', mode='before')
    def init_backend(cls, v):
        pass

    @field_validator('load_format', mode='before')
    @classmethod
    def convert_load_format(cls, v):
        if isinstance(v, LoadFormat):
            return v
        load_format = v.upper()
        if load_format not in LoadFormat.__members__:
            raise ValueError(f'Invalid LoadFormat: {v}')
        return LoadFormat[load_format]
    _extra_resource_managers: Dict[str, object] = PrivateAttr(default_factory=dict)

def update_llm_args_with_extra_dict(llm_args: Dict, llm_args_dict: Dict, extra_llm_api_options: Optional[str]=None) -> Dict:
    field_mapping = {'quant_config': QuantConfig, 'calib_config': CalibConfig, 'build_config': BuildConfig, 'decoding_config': DecodingConfig, 'enable_build_cache': BuildCacheConfig, 'speculative_config': DecodingBaseConfig, 'lora_config': LoraConfig, 'moe_config': MoeConfig, 'nvfp4_gemm_config': Nvfp4GemmConfig, 'attention_dp_config': AttentionDpConfig, 'sparse_attention_config': BaseSparseAttentionConfig, 'kv_cache_config': KvCacheConfig}
LlmArgs = TorchLlmArgs
TRT_LLMARGS_EXPLICIT_DOCSTRING = generate_api_docs_as_docstring(TrtLlmArgs, indent=' ' * 4)
TORCH_LLMARGS_EXPLICIT_DOCSTRING = generate_api_docs_as_docstring(TorchLlmArgs, indent=' ' * 4)
