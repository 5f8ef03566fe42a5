python -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 2 --disaggregation-mode prefill --disaggregation-transfer-backend mooncake --port 30000 &
python -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 1 --base-gpu-id 2 --disaggregation-mode decode --disaggregation-transfer-backend mooncake --port 30001
