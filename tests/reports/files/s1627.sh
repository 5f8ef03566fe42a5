pip install sglang==0.5.14
python3 -m sglang.launch_server --model-path Qwen/Qwen3-235B-A22B --tp 8 --disaggregation-mode prefill --disaggregation-transfer-backend nixl --port 30000 &
python3 -m sglang.launch_server --model-path Qwen/Qwen3-235B-A22B --tp 8 --disaggregation-mode decode --disaggregation-transfer-backend nixl --port 30001 --speculative-algorithm EAGLE3 --speculative-draft-model-path lmsys/Qwen3-235B-A22B-EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
