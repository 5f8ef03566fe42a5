cat > /tmp/low_latency.yaml <<EOF
cuda_graph_config:
  enable_padding: true
  max_batch_size: 128
enable_attention_dp: false
moe_config:
    backend: TRTLLM
speculative_config:
  decoding_type: AUTO
enable_chunked_prefill: true
EOF
trtllm-serve openai/gpt-oss-120b --host 0.0.0.0 --port 23333 --backend pytorch --tp_size 1 --ep_size 1 --trust_remote_code --extra_llm_api_options /tmp/low_latency.yaml --kv_cache_free_gpu_memory_fraction 0.75
