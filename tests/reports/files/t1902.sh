python3 -m dynamo.trtllm --model-path Qwen/Qwen3-32B --tensor_parallel_size 1 --pipeline_parallel_size 1 --kv_cache_config.tokens_per_block 32 \
  --build_config.max_batch_size 1 --disable_overlap_scheduler
