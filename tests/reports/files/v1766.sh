#!/bin/bash
# prefill
VLLM_NIXL_SIDE_CHANNEL_PORT=5600 vllm serve Qwen/Qwen3.5-397B-A17B-FP8 --port 8100 --tensor-parallel-size 4 --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}' &
# decode
VLLM_NIXL_SIDE_CHANNEL_PORT=5601 vllm serve Qwen/Qwen3.5-397B-A17B-FP8 --port 8200 --data-parallel-size 8 --enable-expert-parallel --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}' &
wait
