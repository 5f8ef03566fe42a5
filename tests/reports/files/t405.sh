cat > mtp.yml <<EOF
enable_attention_dp: false
max_batch_size: 196
max_num_tokens: 50000
speculative_config:
  decoding_type: "MTP"
  num_nextn_predict_layers: 1
kv_cache_config:
  free_gpu_memory_fraction: 0.6
EOF
trtllm-serve nvidia/DeepSeek-R1-FP4 --backend pytorch --tp_size 8 --ep_size 8 --extra_llm_api_options mtp.yml
