llama-server -m a.gguf --host 127.0.0.1 --port 8001 &
llama-server -m b.gguf --host 127.0.0.1 --port 8001 &
