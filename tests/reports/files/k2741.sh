trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size=8 --ep_size=8 --host=0.0.0.0 --port=8000 --backend=pytorch --max_num_tokens=32768 --max_seq_len 40960 --max_batch_size=8 --extra_llm_api_options config.yaml
cat > config.yaml <<EOF
guided_decoding_backend: xgrammar
speculative_config: {decoding_type: MTP, num_nextn_predict_layers: 3}
EOF
pip install tensorrt_llm==1.1.0rc5
