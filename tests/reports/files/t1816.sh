cat > decode.yaml <<'EOF'
tensor_parallel_size: 1
backend: pytorch
max_num_tokens: 256
max_batch_size: 256
cuda_graph_config:
  max_batch_size: 16
cache_transceiver_config:
  backend: default
EOF
trtllm-serve Qwen/Qwen3-0.6B --extra_llm_api_options decode.yaml
