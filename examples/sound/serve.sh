#!/usr/bin/env bash
# Everything here may be overridden from outside, so that little is certain: nothing is reported.
set -euo pipefail

MODEL="${1:?usage: serve.sh MODEL [vllm options]}"
shift
KV_CACHE_DTYPE="${KV_CACHE_DTYPE:-auto}"

exec vllm serve "$MODEL" \
  --host 0.0.0.0 --port "${PORT:-8000}" \
  --kv-cache-dtype "$KV_CACHE_DTYPE" \
  --speculative-config "$(cat spec.json)" \
  "$@"
