podman run -p 8080:8080 --device /dev/kfd --device /dev/dri -v /models:/models ghcr.io/ggml-org/llama.cpp:server-rocm -m /models/model.gguf
