cat > ifb_mtp.yaml <<'EOF'
cuda_graph_config:
  enable_padding: true
  batch_sizes: [1, 2, 4, 8, 256]
print_iter_log: true
enable_attention_dp: false
enable_chunked_prefill: true
return_perf_metrics: true
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 1
kv_cache_config:
  enable_block_reuse: false
EOF
trtllm-serve serve /path/to/DeepSeek-V3.2-Speciale/ --host 0.0.0.0 --port 8002 --backend pytorch --max_batch_size 64 --max_seq_len 131072 --max_num_tokens 8192 --tp_size 8 --ep_size 1 --pp_size 1 --kv_cache_free_gpu_memory_fraction 0.8 --extra_llm_api_options ./ifb_mtp.yaml
