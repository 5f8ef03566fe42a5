cat > eagle.yaml <<'EOF'
use_torch_sampler: true
speculative_config:
  decoding_type: Eagle
  max_draft_len: 3
  speculative_model_dir: /config/models/eagle/
EOF
trtllm-serve /config/models/gpt-oss-120b --host 0.0.0.0 --port 8000 --backend pytorch --max_batch_size 10 --tp_size 8 --ep_size 4 --extra_llm_api_options eagle.yaml
