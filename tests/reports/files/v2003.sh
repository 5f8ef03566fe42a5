docker run --device /dev/dri -v /dev/dri/by-path:/dev/dri/by-path --shm-size=16g --privileged --ipc=host -p 8000:8000 \
  -v ~/.cache/huggingface:/root/.cache/huggingface \
  vllm/vllm-openai-xpu:latest \
  Qwen/Qwen3-32B
