docker run --gpus all --ipc=host -p 8000:8000 \
  vllm/vllm-openai:v0.26.0 \
  vllm serve nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4 --trust-remote-code
