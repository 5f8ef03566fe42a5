docker run --name qwen3 --rm --gpus all --security-opt seccomp=unconfined \
    --network=host --ipc=host \
    -v /data/ai_models/GLM-4.7-Flash-AWQ-4bit:/models/GLM-4.7-Flash-AWQ-4bit \
    -v ~/.cache:/root/.cache \
    vllm/vllm-openai:v0.17.1 vllm serve /models/GLM-4.7-Flash-AWQ-4bit \
    --served-model-name GLM-4.7-Flash-AWQ-4bit \
    --trust-remote-code \
    --port 9527 \
    --gpu-memory-utilization 0.90 \
    --enable-prefix-caching \
    --enable-chunked-prefill \
    --max-model-len 4096 \
    --enable-auto-tool-choice --tool-call-parser hermes \
    --api-key sk-placeholder --max_num_batched_tokens 4096 --swap_space 16
