docker run -p 8080:8080 -v /models:/models ghcr.io/ggerganov/llama.cpp:server -m /models/model.gguf --host 0.0.0.0 --port 8080
