#!/usr/bin/env bash
VLLM_ARGS=("/model" "--served-model-name" "qwen3.8-flash-next" "--max-model-len" "524288")
VLLM_ARGS+=("--hf-overrides" "$(printf "'{\"text_config\":{\"rope_parameters\":{\"factor\":%s}}}'" "2.0")")
VLLM_ARGS+=("--speculative-config" "$(printf "'{\"method\":\"mtp\",\"num_speculative_tokens\":%s}'" "3")")
vllm serve "${VLLM_ARGS[@]}"
