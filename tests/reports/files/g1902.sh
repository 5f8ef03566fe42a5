ollama run llama3.2-vision --verbose
