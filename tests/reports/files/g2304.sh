pip install tensorrt_llm==1.2.0rc6
cat > prefill.yaml <<EOF
max_batch_size: 1
max_num_tokens: 8448
max_seq_len: 8448
backend: pytorch
build_config:
  max_batch_size: 1
moe_config:
  backend: WIDEEP
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 4 --ep_size 4 --extra_llm_api_options prefill.yaml
