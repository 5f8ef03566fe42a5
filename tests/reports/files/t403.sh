cat > moe.yaml <<EOF
moe_config:
  backend: TRTLLM
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --extra_llm_api_options moe.yaml
