docker run --gpus 8 nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.3.2 sh -c 'cat > agg_config.yaml <<EOF
tensor_parallel_size: 8
moe_expert_parallel_size: 1
max_batch_size: 256
max_num_tokens: 8448
max_seq_len: 8448
kv_cache_config: {free_gpu_memory_fraction: 0.25}
speculative_config:
  decoding_type: MTP
  num_nextn_predict_layers: 1
EOF
python3 -m dynamo.trtllm --model-path nvidia/Llama-4-Maverick-17B-128E-Instruct-FP8 --extra-engine-args agg_config.yaml'
