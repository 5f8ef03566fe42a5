cat > agg.yaml <<'EOF'
tensor_parallel_size: 4
backend: pytorch
kv_cache_config:
  free_gpu_memory_fraction: 0.9
kv_cache_dtype: fp8
cuda_graph_config:
  padding_enabled: true
EOF
python3 -m dynamo.trtllm --model-path Qwen/Qwen3-32B --served-model-name Qwen/Qwen3-32B --extra-engine-args agg.yaml
