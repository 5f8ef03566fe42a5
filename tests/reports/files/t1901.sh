python3 -m dynamo.trtllm --model-path RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic \
  --override-engine-args '{"cache_transceiver_config": {"backend": "DEFAULT"}, "disable_overlap_scheduler": true, "kv_cache_config": {"tokens_per_block": 32}}' \
  --trtllm.kv_cache_config.enable_block_reuse false \
  --trtllm.disable_overlap_scheduler false \
  --trtllm.cache_transceiver_config none
