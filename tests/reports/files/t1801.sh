docker run --gpus all --shm-size 1g -p 8080:80 ghcr.io/huggingface/text-generation-inference:2.0.4 --model-id meta-llama/Llama-2-7b-chat-hf
