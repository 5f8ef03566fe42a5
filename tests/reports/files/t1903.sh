cat > prefill.yaml <<'EOF'
max_batch_size: 1
max_seq_len: 16384
max_num_tokens: 16384
tensor_parallel_size: 4
enable_attention_dp: false
trust_remote_code: true
backend: pytorch
enable_chunked_prefill: false
disable_overlap_scheduler: true
cuda_graph_config:
  max_batch_size: 1
kv_cache_config:
  enable_block_reuse: false
  free_gpu_memory_fraction: 0.8
  dtype: auto
cache_transceiver_config:
  backend: NIXL
  max_tokens_in_buffer: 16384
  kv_transfer_timeout_ms: 300000
print_iter_log: false
EOF
python3 -m dynamo.trtllm --model-path Qwen/Qwen3-32B --extra-engine-args prefill.yaml
