pip install tensorrt_llm==1.0.0
cat > config.yaml <<EOF
guided_decoding_backend: xgrammar
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 1
EOF
trtllm-serve deepseek-ai/DeepSeek-R1 --backend pytorch --extra_llm_api_options config.yaml
