docker run -d --gpus all -v ollama:/root/.ollama -p 11434:11434 --name ollama ollama/ollama:0.3.4
docker exec ollama ollama pull gemma3:latest
