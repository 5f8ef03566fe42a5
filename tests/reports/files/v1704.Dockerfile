FROM nvidia/cuda:12.8.1-base-ubuntu22.04
RUN apt-get update && apt-get install -y python3-pip
RUN python3 -m pip install vllm==0.11.0
RUN python3 -m pip install --upgrade "transformers>=4.57.0"
CMD ["vllm", "serve", "Qwen/Qwen2.5-7B-Instruct"]
