#!/usr/bin/env bash
# starts what the night shift needs – 夜勤 😴
set -euo pipefail

MODEL=${MODEL:-Qwen/Qwen3-8B}
PORT=8000
SPEC='{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 3}'

args=(
  --max-model-len 16384
  --gpu-memory-utilization 1.5
  --kv-cache-dtype fp8
)

if [[ -n "${TP:-}" ]]; then
  args+=(--tensor-parallel-size "$TP")
fi

export VLLM_ATTENTION_BACKEND=FLASHINFER
vllm serve "$MODEL" --port "$PORT" "${args[@]}" --speculative-config "$SPEC" &

docker run --rm --gpus all --ipc=host -p 30000:30000 \
  -e HF_TOKEN="$HF_TOKEN" \
  lmsysorg/sglang:v0.5.9 \
  python -m sglang.launch_server \
  --model-path deepseek-ai/DeepSeek-V3 --tp 8 \
  --enable-dp-attentoin --port 30000

for attempt in $(seq 1 60); do
  curl -sf "localhost:$PORT/health" && break
  sleep 2
done
wait
