cat > trtbench.yaml <<'EOF'
speculative_config:
    decoding_type: Eagle
    max_draft_len: 3
    speculative_model_dir: /models/EAGLE3-LLaMA3.1-Instruct-8B
EOF
trtllm-serve meta-llama/Llama-3.1-8B-Instruct --extra_llm_api_options trtbench.yaml --host 0.0.0.0 --port 8000
