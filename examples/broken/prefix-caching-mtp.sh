#!/usr/bin/env bash
# A coding agent's server: long shared prompts, drafts from the model's own MTP layer.
set -euo pipefail
pip install -q "vllm==0.25.1"

export VLLM_NO_USAGE_STATS=1
MODEL=Qwen/Qwen3.6-27B-FP8

ARGS=(
  --served-model-name coder
  --max-model-len "${MAX_MODEL_LEN:-131072}"
  --enable-prefix-caching
)
if [[ "${SPECULATE:-1}" == 1 ]]; then
  ARGS+=(--speculative-config '{"method": "qwen3_next_mtp", "num_speculative_tokens": 2}')
fi

exec vllm serve "$MODEL" --host 0.0.0.0 --port 8000 "${ARGS[@]}"
