python3 -m dynamo.vllm --model facebook/opt-125m --port 48455
