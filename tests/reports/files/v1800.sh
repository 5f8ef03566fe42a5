pip install vllm==0.19.1
CUDA_VISIBLE_DEVICES=0 vllm serve Qwen/Qwen3-8B &
CUDA_VISIBLE_DEVICES=1 vllm serve Qwen/Qwen3-4B &
wait
