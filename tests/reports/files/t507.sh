cat > /tmp/extra_llm_api_options.yaml <<'EOF'
extra_llm_api_options:
{
  "allreduce_strategy": "AUTO",
  "attn_backend": "TRTLLM",
  "cuda_graph_config": {
    "enable_padding": true,
    "max_batch_size": 64
  },
  "disable_overlap_scheduler": false,
  "dtype": "auto",
  "enable_chunked_prefill": true,
  "enable_trtllm_sampler": true,
  "kv_cache_config": {
    "dtype": "auto",
    "enable_block_reuse": true,
    "free_gpu_memory_fraction": 0.85
  },
  "speculative_config": {
    "decoding_type": "Eagle",
    "eagle3_one_model": true,
    "max_draft_len": "4",
    "speculative_model_dir": "/mnt/modelops/models/AngelSlim/Qwen3-32B_eagle3"
  }
}
EOF
trtllm-serve /mnt/modelops/models/Qwen3-32B --host 127.0.0.1 --port 9122 --kv_cache_free_gpu_memory_fraction 0.85 --trust_remote_code --log_level info --tp_size 4 --ep_size 1 --pp_size 1 --max_batch_size 16 --max_num_tokens 8192 --tokenizer /mnt/modelops/models/Qwen3-32B --backend pytorch --extra_llm_api_options /tmp/extra_llm_api_options.yaml
