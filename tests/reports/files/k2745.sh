pip install tensorrt_llm==1.3.0rc15
cat > config.yaml <<EOF
speculative_config:
  decoding_type: Eagle3
  max_draft_len: 1
  speculative_model_dir: yuhuili/EAGLE3-LLaMA3.1-Instruct-8B
  eagle3_model_arch: llama3
  draft_len_schedule: {1: 1, 16: 1, 32: 0}
guided_decoding_backend: xgrammar
EOF
trtllm-serve meta-llama/Llama-3.1-8B-Instruct --backend pytorch --host 0.0.0.0 --port 8000 --max_batch_size 64 --max_seq_len 8192 --extra_llm_api_options config.yaml
