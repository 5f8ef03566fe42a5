cat > config.yaml <<'EOF'
attn_backend: FLASHINFER
EOF
trtllm-serve openai/gpt-oss-20b --backend pytorch --extra_llm_api_options config.yaml
