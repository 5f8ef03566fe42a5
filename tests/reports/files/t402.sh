cat > options.yml <<EOF
enable_attention_dp: false
enable_chunked_prefill: false
speculative_config:
  max_draft_len: 4
  decoding_type: Eagle
  speculative_model_dir: draft_path
  eagle3_one_model: false
  use_dynamic_tree: false
EOF
trtllm-serve Qwen/Qwen2.5-3B-Instruct --host '127.0.0.1' --port 12345 --max_num_tokens 1024 --extra_llm_api_options options.yml --backend trt
