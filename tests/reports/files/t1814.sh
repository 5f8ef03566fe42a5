cat > config.yml <<'EOF'
moe_config:
  backend: TRTLLM
kv_cache_dtype: fp8
enable_attention_dp: true
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --ep_size 8 --trust_remote_code --config config.yml
