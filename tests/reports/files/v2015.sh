docker run --runtime nvidia --gpus all -p 8000:8000 --ipc=host vllm/vllm-openai:v0.10.1.1 --model google/gemma-3n-E4B-it
