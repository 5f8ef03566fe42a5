cat > extra-llm-api-config.yml <<EOF
pytorch_backend_config:
    enable_overlap_scheduler: true
    use_cuda_graph: true
    moe_backend: TRTLLM
speculative_config:
    decoding_type: MTP
    num_nextn_predict_layers: 3
EOF
trtllm-serve nvidia/DeepSeek-R1-FP4 --backend pytorch --host 0.0.0.0 --port 8001 --max_batch_size 32 --tp_size 8 --ep_size 4 --extra_llm_api_options extra-llm-api-config.yml
