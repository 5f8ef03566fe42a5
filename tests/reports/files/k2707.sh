podman run --rm -v /models:/models:ro -p 8080:8080 ghcr.io/ggml-org/llama.cpp:server-cuda llama-server --host 0.0.0.0 --port 8080 --model /models/model.gguf
