docker run --rm -it --cap-add=SYS_PTRACE --security-opt seccomp=unconfined --device=/dev/kfd --device=/dev/dri --group-add video \
  --ipc=host --shm-size 256g -v $volume:/data ghcr.io/huggingface/text-generation-inference:3.1.1-rocm --model-id teknium/OpenHermes-2.5-Mistral-7B
