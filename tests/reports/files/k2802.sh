podman run --rm -it --userns "keep-id" --user 1000:1000 -v ollama095:/.ollama docker.io/ollama/ollama:0.9.6
