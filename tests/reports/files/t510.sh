cat > /tmp/config.yaml <<'EOF'
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 3
  use_relaxed_acceptance_for_thinking: true
cuda_graph_config:
  enable_padding: false
enable_chunked_prefill: true
enable_iter_perf_stats: true
guided_decoding_backend: xgrammar
kv_cache_config:
  dtype: fp8
  enable_block_reuse: true
  enable_partial_reuse: false
EOF
trtllm-serve zai-org/GLM-4.6 --backend pytorch --tp_size 8 --extra_llm_api_options /tmp/config.yaml
