docker run --gpus all -p 8000:8000 vllm/vllm-openai:v0.6.0 --model /data1/models/deepseek --trust-remote-code
