#!/usr/bin/env bash
# Qwen3.6 with its own MTP head on one node, as an old recipe has it.
set -euo pipefail

IMAGE="${IMAGE:-lmsysorg/sglang:v0.5.12-cu126}"
MODEL="${MODEL:-Qwen/Qwen3.6-35B-A3B-FP8}"
PORT="${PORT:-30000}"

docker rm -f sglang >/dev/null 2>&1 || true
exec docker run --rm --name sglang --gpus all --ipc=host --shm-size 32g \
  -p "${PORT}:30000" \
  -v "$HOME/.cache/huggingface:/root/.cache/huggingface" \
  -e SGLANG_ENABLE_SPEC_V2=1 \
  "$IMAGE" \
  python3 -m sglang.launch_server \
    --model-path "$MODEL" \
    --host 0.0.0.0 --port 30000 \
    --tp-size 1 \
    --mem-fraction-static 0.92 \
    --reasoning-parser qwen3 \
    --speculative-algorithm NEXTN \
    --speculative-num-steps 3 \
    --speculative-eagle-topk 1 \
    --speculative-num-draft-tokens 8
