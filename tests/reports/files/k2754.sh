docker run --gpus 8 nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.8.0 sh -c 'cat > engine.yaml <<EOF
tensor_parallel_size: 4
disable_overlap_scheduler: true
cache_transceiver_config: {backend: DEFAULT}
EOF
python3 -m dynamo.trtllm --model-path Qwen/Qwen3-32B --extra-engine-args engine.yaml --disaggregation-mode prefill'
