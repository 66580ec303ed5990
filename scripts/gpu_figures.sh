#!/usr/bin/env bash
# Usage: scripts/gpu_figures.sh FOLDER
# Runs the benchmarks of the Python package on this machine's GPU and writes their
# figures to FOLDER, after scripts/check_gpu.sh has installed the wheels.
set -uo pipefail
cd "$(dirname "$0")/.."

folder=$1
python=${PYTHON:-python3}
export PYTHONPATH=$PWD/build/gpu-site${PYTHONPATH:+:$PYTHONPATH}
export KVFUSE_CACHE_DIR=$PWD/build/gpu-cache
mkdir -p "$folder"

status=0
run() { echo "== $*"; "$@" || status=1; }

run "$python" benchmarks/call_overhead.py --json "$folder/call_overhead.json"
for heads in 1 2 4; do
  run "$python" benchmarks/step.py --heads "$heads" \
    --json "$folder/step-h$heads.json"
done
for cache in bf16 fp8; do
  run "$python" benchmarks/step.py --compile layer --cache "$cache" \
    --json "$folder/step-compile-$cache.json"
done
gpus=$("$python" -c 'import torch; print(torch.cuda.device_count())')
run "$python" -m torch.distributed.run --standalone \
  --nproc-per-node="$((gpus > 1 ? 2 : 1))" examples/minimax_m3_step/ranks.py
exit "$status"
