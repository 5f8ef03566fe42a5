#!/bin/bash
cat > c.yaml <<'EOF'
model: Qwen/Qwen3-1.7B
hf_overrides:
  architectures: [Qwen3ForCausalLM]
EOF
vllm serve --config c.yaml
