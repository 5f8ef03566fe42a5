"""Checks: conditions that data cannot express. A rule names one; it adds to the rule's `when`, it does not replace it."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from servelint.engines.config import Config

CHECKS = (
    "kv_heads",
    "llamacpp_mtp_unused",
    "lmdeploy_state_interval",
    "model_not_listed",
    "model_too_new",
    "quantization_capability",
    "quantization_mismatch",
    "reasoning_parser_format",
    "served_name",
    "sglang_adaptive_steps",
    "sglang_attention_heads",
    "sglang_context",
    "sglang_context_override",
    "sglang_dflash_block",
    "sglang_dp_attention",
    "sglang_dp_chunk",
    "sglang_draft_tokens",
    "sglang_dspark_block",
    "sglang_expert_parallel",
    "sglang_gpu_count",
    "sglang_mamba_slots",
    "sglang_node_rank",
    "sglang_nodes",
    "sglang_prefill_pages",
    "sglang_served_name",
    "sglang_split_attention",
    "sglang_standalone_vocabulary",
    "sglang_track_interval",
    "sglang_unpinned_model",
    "tool_parser_format",
    "vllm_attention_heads",
    "vllm_batched_tokens",
    "vllm_context_parallel",
    "vllm_cpu_loras",
    "vllm_draft_context",
    "vllm_draft_parallel",
    "vllm_draft_slots",
    "vllm_draft_vocabulary",
    "vllm_lora_draft_tokens",
    "vllm_model_len",
    "vllm_model_option",
    "vllm_nodes",
    "vllm_online_fp8",
    "vllm_prompt_lookup",
    "vllm_replicas",
    "vllm_sampling_shards",
    "vllm_unchunked_batch",
    "vllm_v2_runner",
    "vllm_world_size",
)


def run_check(name: str, config: Config) -> dict[str, str] | None:
    """Fields for the rule's message if the check holds for a config; None if it does not, or cannot be told."""
    module = import_module("servelint.checks." + name)
    fields: dict[str, str] | None = module.check(config)
    return fields
