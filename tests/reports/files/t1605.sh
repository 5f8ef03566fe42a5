cat > extra-llm-api-config.yml <<'EOF'
enable_attention_dp: false
max_batch_size: 192
max_num_tokens: 50000
max_seq_len: 40960
tp_size: 8
ep_size: 8
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 1
kv_cache_config:
  free_gpu_memory_fraction: 0.8
pytorch_backend_config:
  kv_cache_dtype: fp8
  print_iter_log: true
EOF
trtllm-serve nvidia/DeepSeek-R1-FP4 --backend pytorch --tp_size 8 --ep_size 8 --extra_llm_api_options extra-llm-api-config.yml
