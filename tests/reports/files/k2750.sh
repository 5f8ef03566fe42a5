docker run --gpus 1 nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0 python3 -m dynamo.vllm --model Qwen/Qwen3-8B --connector nixl --is-prefill-worker
