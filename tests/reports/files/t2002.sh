cat > options.yaml <<'YAML'
lora_config:
  lora_dir: [ldsjmdy/Qwen3-8B-FreeLM-LoRA]
  max_lora_rank: 64
speculative_config:
  decoding_type: NGram
  max_draft_len: 4
  max_matching_ngram_size: 2
YAML
trtllm-serve Qwen/Qwen3-8B --extra_llm_api_options options.yaml
