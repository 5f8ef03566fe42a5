docker run --gpus all --ipc=host -p 127.0.0.1:8000:8000 vllm/vllm-openai:v0.19.1 --model nvidia/Qwen3-32B-NVFP4
