python -m sglang.launch_server --model-path Qwen/Qwen3.5-397B-A17B-FP8 --tp 4 --dp 4 --enable-dp-attention --disaggregation-mode prefill --disaggregation-transfer-backend nixl --port 30000 &
python -m sglang.launch_server --model-path Qwen/Qwen3.5-397B-A17B-FP8 --tp 4 --base-gpu-id 4 --disaggregation-mode decode --disaggregation-transfer-backend nixl --port 30001
