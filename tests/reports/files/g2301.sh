pip install tensorrt_llm==1.0.0rc4
cat > agg.yaml <<EOF
tensor_parallel_size: 1
max_batch_size: 16
use_cuda_graph: true
autotuner_enabled: false
kv_cache_config:
  free_gpu_memory_fraction: 0.95
EOF
trtllm-serve deepseek-ai/DeepSeek-R1-Distill-Llama-8B --extra_llm_api_options agg.yaml
