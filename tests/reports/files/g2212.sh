cat > extra.yaml <<'EOF'
kv_cache_config:
  dtype: fp8
EOF
trtllm-serve /models/Qwen2.5-72B-Instruct-w4a8-awq --extra_llm_api_options extra.yaml
