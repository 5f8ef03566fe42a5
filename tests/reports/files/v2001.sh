docker run -it --rm --pull always --runtime=nvidia --network host \
  vllm/vllm-openai:latest \
  vllm serve Qwen/Qwen3.5-0.8B \
  --gpu-memory-utilization 0.8 \
  --enable-prefix-caching \
  --reasoning-parser qwen3 \
  --enable-auto-tool-choice \
  --tool-call-parser qwen3_coder
