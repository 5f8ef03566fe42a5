#!/bin/bash
cat > c.yaml <<'EOF'
model: Qwen/Qwen3-8B
enable-prefix-caching: false
EOF
vllm serve --config c.yaml
