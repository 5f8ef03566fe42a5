docker run --gpus 1 -e NGC_API_KEY -e NIM_MAX_MODEL_LEN=4096 -p 8000:8000 nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3.3
