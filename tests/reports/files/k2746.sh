pip install tensorrt_llm==1.1.0rc5
cat > engine.yaml <<EOF
build_config:
  max_batch_size: 64
  max_num_tokens: 8192
  max_seq_len: 8192
tensor_parallel_size: 1
kv_cache_config: {free_gpu_memory_fraction: 0.8}
EOF
python3 -m dynamo.trtllm --model-path Qwen/Qwen3-8B --extra-engine-args engine.yaml
