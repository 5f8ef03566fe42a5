python -m dynamo.vllm --model facebook/opt-125m --device cpu
