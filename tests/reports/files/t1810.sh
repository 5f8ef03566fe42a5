cat > mtp_decode.yaml <<'EOF'
backend: pytorch
tensor_parallel_size: 4
moe_expert_parallel_size: 4
enable_attention_dp: false
max_batch_size: 256
max_num_tokens: 512
max_seq_len: 8704
kv_cache_config:
  free_gpu_memory_fraction: 0.85
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 1
use_cuda_graph: true
cuda_graph_padding_enabled: true
cuda_graph_batch_sizes:
- 1
- 2
- 4
- 8
- 16
- 32
- 64
- 128
- 256
print_iter_log: true
kv_cache_dtype: fp8
EOF
python3 -m dynamo.trtllm --model-path nvidia/DeepSeek-R1-FP4 --served-model-name nvidia/DeepSeek-R1-FP4 \
  --extra-engine-args mtp_decode.yaml --disaggregation-mode decode
