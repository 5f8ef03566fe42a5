docker run --runtime nvidia --gpus '"device=1,2"' --rm \
  -v /data/modelscope:/root/.cache/modelscope \
  -e VLLM_USE_MODELSCOPE=True \
  -p 127.0.0.1:11435:8000 --ipc=host vllm/vllm-openai:v0.9.1 \
  --model Qwen/Qwen3-0.6B-GPTQ-Int8 \
  --max-model-len 8192 --served-model-name qt-vllm --dtype half
