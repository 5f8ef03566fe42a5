llama-swap --config config.yaml --listen 8000
