cat > agg.yaml <<'EOF'
tensor_parallel_size: 1
moe_expert_parallel_size: 1
backend: _autodeploy
EOF
python3 -m dynamo.trtllm --model-path /models/llama --extra-engine-args agg.yaml
