#!/usr/bin/env bash
# Runs the GPU tests, and once more under compute-sanitizer where that is
# installed. A machine that has build/gpu-bundle needs no build, only a CUDA
# driver and a Python with numpy; elsewhere the bundle is made first.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "check-gpu: error: $*" >&2; exit 1; }

compgen -G '/dev/nvidia[0-9]*' >/dev/null ||
  fail "this machine has no CUDA device; run 'make gpu-bundle' here, copy" \
    "the repository with build/gpu-bundle to one that has, and run" \
    "'make check-gpu' there"

[ -d build/gpu-bundle ] || "${MAKE:-make}" gpu-bundle

for candidate in python3 build/venv/bin/python; do
  if "$candidate" -c 'import numpy' 2>/dev/null; then
    python=$candidate
    break
  fi
done
[ -n "${python:-}" ] ||
  fail "python3 lacks numpy"

run=("$python" test/Integration/CUDA/run_bundle.py build/gpu-bundle)
"${run[@]}"
if command -v compute-sanitizer >/dev/null; then
  echo "== under compute-sanitizer"
  "${run[@]}" --sanitizer
else
  echo "check-gpu: compute-sanitizer is not on the PATH and was not run"
fi
