cat >/root/data/trtllm-config.yml<<EOF
kv_cache_config:
  dtype: fp8
  enable_block_reuse: true
EOF
trtllm-serve /root/data/Barrrrry/DeepSeek-R1-W4AFP8 --backend pytorch --max_seq_len 9216 --max_batch_size 4096 --max_num_tokens 16384 --tp_size 4 --trust_remote_code --extra_llm_api_options /root/data/trtllm-config.yml
