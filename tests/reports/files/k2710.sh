docker run --gpus all -v /models:/models -e LLAMA_ARG_PORT=8088 -e LLAMA_ARG_MODEL=/models/model.gguf -p 8088:8088 ghcr.io/ggml-org/llama.cpp:server-cuda
