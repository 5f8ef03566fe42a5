cat > moe.yaml <<EOF
moe_config:
  backend: DEEPGEMM
EOF
trtllm-serve Qwen/Qwen3-235B-A22B-FP8 --tp_size 2 --ep_size 2 --extra_llm_api_options moe.yaml
