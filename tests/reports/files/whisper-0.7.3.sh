docker run --gpus all --ipc=host -p 8000:8000 vllm/vllm-openai:v0.7.3 \
  --host=0.0.0.0 --port=8000 --api-key="$API_KEY" --model=openai/whisper-large-v3-turbo --task=transcription
