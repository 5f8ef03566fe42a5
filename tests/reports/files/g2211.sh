cat > prefill.yaml <<'EOF'
backend: pytorch
tensor_parallel_size: 1
max_num_tokens: 6500
max_seq_len: 6500
disable_overlap_scheduler: true
kv_cache_config:
  enable_block_reuse: false
  tokens_per_block: 32
cache_transceiver_config:
  backend: DEFAULT
  max_tokens_in_buffer: 6500
EOF
python3 -m dynamo.trtllm --model-path Qwen/Qwen3-0.6B --served-model-name Qwen/Qwen3-0.6B --extra-engine-args prefill.yaml --disaggregation-mode prefill
