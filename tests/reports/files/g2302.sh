pip install tensorrt_llm==0.21.0
cat > llm_api_config.yaml <<EOF
tensor_parallel_size: 1
enable_overlap_scheduler: true
free_gpu_memory_fraction: 0.9
EOF
trtllm-serve deepseek-ai/DeepSeek-R1-Distill-Llama-8B --backend pytorch --extra_llm_api_options llm_api_config.yaml
