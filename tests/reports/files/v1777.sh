#!/bin/bash
vllm serve Qwen/Qwen3-Omni-30B-A3B-Instruct --omni --port 8091 --stage-id 0 --max-num-seqs 8 --omni-master-address 127.0.0.1 --omni-master-port 26000 &
vllm serve Qwen/Qwen3-Omni-30B-A3B-Instruct --omni --stage-id 1 --headless --max-num-seqs 4 --omni-master-address 127.0.0.1 --omni-master-port 26000 &
vllm serve Qwen/Qwen3-Omni-30B-A3B-Instruct --omni --stage-id 2 --headless --max-num-seqs 4 --omni-master-address 127.0.0.1 --omni-master-port 26000 &
wait
