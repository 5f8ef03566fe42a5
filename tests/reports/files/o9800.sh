ollama serve &
sleep 5
ollama run mistral-small:24b-3.1-instruct-2503-q4_K_M
