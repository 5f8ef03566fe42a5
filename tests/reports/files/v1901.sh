docker run --rm -it -d --privileged=true --shm-size 32g --device=/dev/davinci_manager --name vllm -v /home:/home \
  quay.io/ascend/vllm-ascend:v0.11.0rc0-310p-openeuler \
  vllm serve /home/models/Qwen3/Qwen3-4B --served-model-name qwen2.5_7b --tensor-parallel-size 1 --max-model-len 4096 --gpu-memory-utilization 0.8 --enforce-eager --port 8080 --host 0.0.0.0
