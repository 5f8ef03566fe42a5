FROM ghcr.io/ggml-org/llama.cpp:server-cuda-b5583

CMD [ \
  "--gpu-layers", "999", \
  "--host", "0.0.0.0", \
  "-hf", "ggml-org/gemma-3-1b-it-GGUF" \
  "--port", "8080", \
  "--verbose", \
]
