docker run --gpus all nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.5.0 python3 -m dynamo.vllm --model Qwen/Qwen3-0.6B --metrics-endpoint-port 8001
