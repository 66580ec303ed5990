#!/usr/bin/env bash
# Prints the path of a ptxas of CUDA 12 or later. Looked for, in this order: the
# variable KVFUSE_PTXAS, a CUDA Toolkit (CUDA_HOME, CUDA_PATH, the PATH,
# /usr/local/cuda*), the nvidia-cuda-nvcc package in build/venv. Exits 1 and
# prints nothing when there is none, 2 when KVFUSE_PTXAS names no such ptxas.
set -euo pipefail
cd "$(dirname "$0")/.."

usable() {
  local major
  [ -x "$1" ] || return 1
  major=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\).*/\1/p')
  [ "${major:-0}" -ge 12 ]
}

if [ -n "${KVFUSE_PTXAS:-}" ]; then
  usable "$KVFUSE_PTXAS" || {
    echo "error: KVFUSE_PTXAS=$KVFUSE_PTXAS is not a ptxas of CUDA 12 or later" >&2
    exit 2
  }
  echo "$KVFUSE_PTXAS"
  exit 0
fi

candidates=(
  ${CUDA_HOME:+"$CUDA_HOME/bin/ptxas"}
  ${CUDA_PATH:+"$CUDA_PATH/bin/ptxas"}
)
on_path=$(command -v ptxas || true)
[ -z "$on_path" ] || candidates+=("$on_path")
candidates+=(/usr/local/cuda/bin/ptxas)
while read -r versioned; do
  candidates+=("$versioned")
done < <(compgen -G '/usr/local/cuda-*/bin/ptxas' | sort -rV)
while read -r packaged; do
  candidates+=("$PWD/$packaged")
done < <(compgen -G 'build/venv/lib/python3*/site-packages/nvidia/*/bin/ptxas')

for candidate in "${candidates[@]}"; do
  if usable "$candidate"; then
    echo "$candidate"
    exit 0
  fi
done
exit 1
