cat > agg.yaml <<'EOF'
tensor_parallel_size: 1
moe_expert_parallel_size: 1
backend: _autodeploy
EOF
docker run --gpus all nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.6.1 \
  python3 -m dynamo.trtllm --model-path /models/llama --extra-engine-args agg.yaml
