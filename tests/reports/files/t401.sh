cat > ctx.yaml <<EOF
disable_overlap_scheduler: true
EOF
CUDA_VISIBLE_DEVICES=0,1,2,3 trtllm-serve /mnt/model/DeepSeek-R1-Distill-Qwen-32B --tp_size 4 --trust_remote_code --kv_cache_free_gpu_memory_fraction 0.9 --host localhost --port 8001 --extra_llm_api_options ctx.yaml
