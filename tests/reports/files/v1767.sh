#!/bin/bash
# prefill
vllm serve RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic --port 8100 --tensor-parallel-size 4 --max-model-len 2205 --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' &
# decode
vllm serve RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic --port 8200 --tensor-parallel-size 1 --max-model-len 2205 --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}' &
wait
