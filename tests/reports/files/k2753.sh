docker run --gpus 1 nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.7.0.post1 python3 -m dynamo.vllm --model Qwen/Qwen3-0.6B --tensor-parallel-size 1 --pipeline-parallel-size 2
