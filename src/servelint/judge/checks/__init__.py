"""Checks: conditions that data cannot express. A rule names one; it adds to the rule's `when`, it does not replace it."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from servelint.engines.config import Config

CHECKS = (
    "advise_off",
    "advise_requests",
    "advise_tokens",
    "kv_heads",
    "llamacpp_mtp_unused",
    "lmdeploy_state_interval",
    "memory_after_pools",
    "memory_batched_tokens",
    "memory_drafts",
    "memory_kv_bytes",
    "memory_no_graphs",
    "memory_one_request",
    "memory_padding",
    "memory_refused",
    "memory_sequences",
    "memory_too_long",
    "model_not_listed",
    "model_too_new",
    "quantization_capability",
    "quantization_mismatch",
    "reasoning_parser_format",
    "served_name",
    "sglang_adaptive_steps",
    "sglang_attention_heads",
    "sglang_config_code",
    "sglang_config_type",
    "sglang_context",
    "sglang_context_override",
    "sglang_context_parallel",
    "sglang_dflash_block",
    "sglang_dflash_window",
    "sglang_dp_attention",
    "sglang_dp_chunk",
    "sglang_draft_tokens",
    "sglang_dspark_block",
    "sglang_dwdp",
    "sglang_expert_parallel",
    "sglang_flashinfer_experts",
    "sglang_gpu_count",
    "sglang_grpc_port",
    "sglang_loaded_loras",
    "sglang_lora_overlap",
    "sglang_mamba_slots",
    "sglang_moe_context",
    "sglang_moe_data_parallel",
    "sglang_moe_dense",
    "sglang_node_rank",
    "sglang_nodes",
    "sglang_prefill_pages",
    "sglang_served_name",
    "sglang_split_attention",
    "sglang_standalone_vocabulary",
    "sglang_track_interval",
    "sglang_unpinned_model",
    "tool_parser_format",
    "vllm_active_requests",
    "vllm_attention_heads",
    "vllm_batched_tokens",
    "vllm_capture_sizes",
    "vllm_config_code",
    "vllm_context_parallel",
    "vllm_cpu_loras",
    "vllm_custom_op",
    "vllm_custom_ops",
    "vllm_deprecated_quantization",
    "vllm_device_ids",
    "vllm_draft_context",
    "vllm_draft_lookahead",
    "vllm_draft_max_len",
    "vllm_draft_parallel",
    "vllm_draft_slots",
    "vllm_draft_vocabulary",
    "vllm_eagle3_target",
    "vllm_elastic_size",
    "vllm_executor_class",
    "vllm_fly_window",
    "vllm_grpc_port",
    "vllm_histogram_buckets",
    "vllm_kv_connectors",
    "vllm_long_prefill",
    "vllm_lora_draft_tokens",
    "vllm_microbatches",
    "vllm_model_len",
    "vllm_model_option",
    "vllm_mtp_layers",
    "vllm_multi_port",
    "vllm_nixl_context",
    "vllm_nodes",
    "vllm_numa_cpus",
    "vllm_number_range",
    "vllm_offload_backend",
    "vllm_offload_groups",
    "vllm_online_fp8",
    "vllm_partial_prefills",
    "vllm_plain_draft",
    "vllm_prompt_lookup",
    "vllm_reasoning_efforts",
    "vllm_reasoning_tokens",
    "vllm_replica_ranks",
    "vllm_replicas",
    "vllm_sampling_shards",
    "vllm_sliding_window",
    "vllm_synthetic_length",
    "vllm_unchunked_batch",
    "vllm_unknown_variable",
    "vllm_v2_runner",
    "vllm_world_size",
)


def run_check(name: str, config: Config) -> dict[str, str] | None:
    """Fields for the rule's message if the check holds for a config; None if it does not, or cannot be told."""
    fields: dict[str, str] | None = _module(name).check(config)
    return fields


@lru_cache(maxsize=len(CHECKS))
def _module(name: str) -> Any:
    return import_module("servelint.judge.checks." + name)
