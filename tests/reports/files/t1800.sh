docker run --gpus all --shm-size 1g -p 8080:80 ghcr.io/huggingface/text-generation-inference:2.0.4 --model-id /data/bloom-560m --num-shard 2
