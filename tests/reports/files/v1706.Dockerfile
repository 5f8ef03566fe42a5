FROM python:3.11-slim
RUN pip install --no-cache-dir vllm==0.11.0
ENTRYPOINT ["vllm", "serve", "Qwen/Qwen2.5-3B-Instruct", "--host", "0.0.0.0"]
