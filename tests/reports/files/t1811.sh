cat > prefill.yaml <<'EOF'
tensor_parallel_size: 1
max_num_tokens: 8192
trust_remote_code: true
backend: pytorch
disable_overlap_scheduler: true
kv_cache_config:
  free_gpu_memory_fraction: 0.8
EOF
python3 -m dynamo.trtllm --model-path Qwen/Qwen3-8B --extra-engine-args prefill.yaml --disaggregation-mode prefill
