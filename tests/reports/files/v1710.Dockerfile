FROM nvidia/cuda:12.8.1-devel-ubuntu22.04
RUN pip install vllm==0.13.0
RUN pip install flashinfer-cubin==0.6.1
CMD ["vllm", "serve", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "--trust-remote-code"]
