docker run --gpus all --ipc=host -p 8000:8000 \
    -v ~/.cache/huggingface:/root/.cache/huggingface \
    vllm/vllm-openai:v0.7.2 --model Qwen/Qwen2.5-VL-72B-Instruct --tensor-parallel-size 4
