cat > config.yaml <<'YAML'
sparse_attention_config:
  algorithm: minimax_m3
kv_cache_config:
  free_gpu_memory_fraction: 0.94
  enable_block_reuse: true
  block_reuse_policy: per_conversation
  tokens_per_block: 128
  use_kv_cache_manager_v2: true
YAML
trtllm-serve nvidia/MiniMax-M3-NVFP4 --tp_size 4 --extra_llm_api_options config.yaml
