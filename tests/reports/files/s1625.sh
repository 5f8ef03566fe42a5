docker run --gpus all --ipc=host -p 30000:30000 lmsysorg/sglang:v0.5.12-cu130 \
  python3 -m sglang.launch_server --model-path Qwen/Qwen3.5-397B-A17B-FP8 --tp 8 --attention-backend trtllm_mha --host 0.0.0.0 --trust-remote-code
