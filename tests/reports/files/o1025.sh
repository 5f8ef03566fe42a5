docker run -it -d --name ollama3 --gpus '"device=3"' -p 11433:11434 \
  -e OLLAMA_LOAD_TIMEOUT=10m \
  -e OLLAMA_NUM_GPU=999 \
  -e OLLAMA_KEEP_ALIVE=-1 \
  -e OLLAMA_KEEP_ALIVE=12h \
  -v /mnt/tianjing/ollama/.ollama:/root/.ollama \
  ollama/ollama:0.32.4
