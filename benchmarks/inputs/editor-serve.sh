#!/usr/bin/env bash
#
# Starts the inference servers of a node: one vLLM for chat, one SGLang for code, each with its own GPUs, logs and
# health check, and stops them together.
#
#   serve.sh start|stop|status|logs [chat|code]
#
set -euo pipefail
shopt -s nullglob

HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
ROOT=${SERVE_ROOT:-/srv/llm}
LOGS=$ROOT/logs
PIDS=$ROOT/run
CACHE=${HF_HOME:-$ROOT/models}

CHAT_MODEL=${CHAT_MODEL:-Qwen/Qwen3-32B}
CHAT_PORT=${CHAT_PORT:-8001}
CHAT_GPUS=${CHAT_GPUS:-0,1}
CHAT_LEN=32768

CODE_MODEL=${CODE_MODEL:-Qwen/Qwen3-Coder-30B-A3B-Instruct}
CODE_PORT=${CODE_PORT:-8002}
CODE_GPUS=${CODE_GPUS:-2,3}
CODE_LEN=65536

VLLM_IMAGE=vllm/vllm-openai:v0.27.1
SGLANG_IMAGE=lmsysorg/sglang:v0.5.14
SPEC='{"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4}'

RED=$'\e[31m'
GREEN=$'\e[32m'
PLAIN=$'\e[0m'

# -- small helpers

log() {
  printf '%s %s\n' "$(date +%H:%M:%S)" "$*"
}

warn() {
  printf '%s%s%s\n' "$RED" "$*" "$PLAIN" >&2
}

die() {
  warn "$@"
  exit 1
}

need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" > /dev/null || die "$tool is not installed"
  done
}

usage() {
  cat <<'TEXT'
usage: serve.sh start|stop|status|logs [chat|code]

  start    starts what is not running, and waits until it answers
  stop     stops what is running
  status   says what is running, and for how long
  logs     follows the log of one server

Settings are variables: CHAT_MODEL, CHAT_PORT, CHAT_GPUS, CODE_MODEL, CODE_PORT, CODE_GPUS, SERVE_ROOT, HF_HOME.
TEXT
}

free_port() {
  local port=$1
  if ss -ltn "sport = :$port" | grep -q LISTEN; then
    return 1
  fi
  return 0
}

wait_for() {
  local name=$1 port=$2 patience=${3:-120}
  local attempt
  for attempt in $(seq 1 "$patience"); do
    if curl -sf "http://127.0.0.1:$port/health" > /dev/null; then
      log "$name answers after $((attempt * 5)) seconds"
      return 0
    fi
    if ! running "$name"; then
      warn "$name ended while it was loading"
      tail -n 20 "$LOGS/$name.log" >&2 || true
      return 1
    fi
    sleep 5
  done
  warn "$name does not answer"
  return 1
}

running() {
  local name=$1
  [[ -n "$(docker ps -q --filter "name=^$name\$")" ]]
}

gpu_memory() {
  local gpus=$1 gpu used
  IFS=, read -ra list <<< "$gpus"
  for gpu in "${list[@]}"; do
    used=$(nvidia-smi --id="$gpu" --query-gpu=memory.used --format=csv,noheader,nounits)
    if (( used > 1024 )); then
      warn "GPU $gpu has $used MiB in use already"
    fi
  done
}

download() {
  local model=$1
  local marker=$CACHE/.complete-${model//\//--}
  if [[ -e $marker ]]; then
    return
  fi
  log "downloading $model"
  docker run --rm \
    -v "$CACHE:/models" \
    -e HF_HOME=/models \
    -e HF_TOKEN="${HF_TOKEN:-}" \
    python:3.12-slim \
    bash -c "pip install -q huggingface_hub && huggingface-cli download '$model'"
  touch "$marker"
}

# -- the servers

start_chat() {
  if running chat; then
    log "chat is running"
    return
  fi
  free_port "$CHAT_PORT" || die "port $CHAT_PORT is taken"
  gpu_memory "$CHAT_GPUS"
  download "$CHAT_MODEL"
  log "starting chat on GPUs $CHAT_GPUS"
  docker run -d --name chat \
    --gpus "\"device=$CHAT_GPUS\"" \
    --ipc=host \
    --restart unless-stopped \
    -p "127.0.0.1:$CHAT_PORT:8000" \
    -v "$CACHE:/models" \
    -e HF_HOME=/models \
    -e VLLM_LOGGING_LEVEL=INFO \
    "$VLLM_IMAGE" \
    --model "$CHAT_MODEL" \
    --served-model-name chat \
    --tensor-parallel-size 2 \
    --max-model-len "$CHAT_LEN" \
    --gpu-memory-utilization 0.92 \
    --kv-cache-dtype fp8 \
    --enable-prefix-caching \
    --speculative-config "$SPEC" \
    --tool-call-parser hermes \
    --enable-auto-tool-choice > /dev/null
  docker logs -f chat > "$LOGS/chat.log" 2>&1 &
  echo $! > "$PIDS/chat.logs"
}

start_code() {
  if running code; then
    log "code is running"
    return
  fi
  free_port "$CODE_PORT" || die "port $CODE_PORT is taken"
  gpu_memory "$CODE_GPUS"
  download "$CODE_MODEL"
  log "starting code on GPUs $CODE_GPUS"
  docker run -d --name code \
    --gpus "\"device=$CODE_GPUS\"" \
    --ipc=host \
    --restart unless-stopped \
    -p "127.0.0.1:$CODE_PORT:8000" \
    -v "$CACHE:/models" \
    -e HF_HOME=/models \
    "$SGLANG_IMAGE" \
    python3 -m sglang.launch_server \
    --model-path "$CODE_MODEL" \
    --host 0.0.0.0 \
    --port 8000 \
    --tp-size 2 \
    --mem-fraction-static 0.85 \
    --context-length "$CODE_LEN" \
    --enable-metrics > /dev/null
  docker logs -f code > "$LOGS/code.log" 2>&1 &
  echo $! > "$PIDS/code.logs"
}

stop_one() {
  local name=$1
  if ! running "$name"; then
    log "$name is not running"
    return
  fi
  log "stopping $name"
  docker stop -t 30 "$name" > /dev/null
  docker rm "$name" > /dev/null
  if [[ -e $PIDS/$name.logs ]]; then
    kill "$(cat "$PIDS/$name.logs")" 2> /dev/null || true
    rm -f "$PIDS/$name.logs"
  fi
}

status_one() {
  local name=$1 port=$2 since
  if ! running "$name"; then
    printf '%-6s %sstopped%s\n' "$name" "$RED" "$PLAIN"
    return
  fi
  since=$(docker inspect -f '{{.State.StartedAt}}' "$name")
  if curl -sf "http://127.0.0.1:$port/health" > /dev/null; then
    printf '%-6s %sanswers%s on %s since %s\n' "$name" "$GREEN" "$PLAIN" "$port" "$since"
  else
    printf '%-6s loading since %s\n' "$name" "$since"
  fi
}

# -- the command

main() {
  local command=${1:-} only=${2:-}
  case $only in
    "" | chat | code) ;;
    *) usage >&2; exit 2 ;;
  esac
  need docker curl ss nvidia-smi
  mkdir -p "$LOGS" "$PIDS" "$CACHE"
  case $command in
    start)
      if [[ $only != code ]]; then
        start_chat
      fi
      if [[ $only != chat ]]; then
        start_code
      fi
      if [[ $only != code ]]; then
        wait_for chat "$CHAT_PORT" 240
      fi
      if [[ $only != chat ]]; then
        wait_for code "$CODE_PORT" 240
      fi
      ;;
    stop)
      if [[ $only != code ]]; then
        stop_one chat
      fi
      if [[ $only != chat ]]; then
        stop_one code
      fi
      ;;
    status)
      if [[ $only != code ]]; then
        status_one chat "$CHAT_PORT"
      fi
      if [[ $only != chat ]]; then
        status_one code "$CODE_PORT"
      fi
      ;;
    logs)
      [[ -n $only ]] || die "logs of what? chat or code"
      tail -n 200 -F "$LOGS/$only.log"
      ;;
    -h | --help | help)
      usage
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
}

# A second call while the first one waits would start everything twice.
if [[ -z ${SERVE_LOCKED:-} ]]; then
  export SERVE_LOCKED=1
  exec flock -n "${TMPDIR:-/tmp}/serve.lock" "$0" "$@"
fi

main "$@"
