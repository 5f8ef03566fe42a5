docker run -d --gpus=all -v ollama:/root/.ollama -p 11434:11434 -e OLLAM_KEEP_ALIVE=24h --name ollama ollama/ollama:0.5.4
