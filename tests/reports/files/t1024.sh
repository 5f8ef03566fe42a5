cat > extra.yml <<'EOF'
cuda_graph_config:
  padding_enabled: true
  batch_sizes: [1, 2, 4, 8]
kv_cache_dtype: fp8
EOF
trtllm-serve nvidia/DeepSeek-R1-0528-FP4 --host 0.0.0.0 --port 8000 --backend pytorch --tp_size 8 --config extra.yml
