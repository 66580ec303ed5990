#!/usr/bin/env bash
# Runs the GPU tests: the kernels of the bundle, once more under compute-sanitizer
# where that is installed, then the Python package. A machine that has
# build/gpu-bundle needs no build and no network, only a CUDA driver and a Python
# with numpy, torch and pytest; elsewhere the bundle is made first.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests of the package that need neither torch-mlir nor jax-tvm-ffi, which machines
# with a GPU may not have. Most use a GPU where there is one.
python_tests=(
  test/python/test_compiled_*.py test/python/test_torch_*.py
  test/python/test_package_{calls,compile,errors,explain,numpy,prewritten,cache}.py
  test/python/test_minimax_m3_step.py
)

fail() { echo "check-gpu: error: $*" >&2; exit 1; }

compgen -G '/dev/nvidia[0-9]*' >/dev/null ||
  fail "this machine has no CUDA device; run 'make gpu-bundle' here, copy" \
    "the repository with build/gpu-bundle to one that has, and run" \
    "'make check-gpu' there"

[ -d build/gpu-bundle ] || "${MAKE:-make}" gpu-bundle

for candidate in python3 build/venv/bin/python; do
  if "$candidate" -c 'import numpy, pytest, torch' 2>/dev/null; then
    python=$candidate
    break
  fi
done
[ -n "${python:-}" ] ||
  fail "python3 lacks numpy, torch or pytest"

failed=()
part() {
  local name=$1
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

run=("$python" test/Integration/CUDA/run_bundle.py build/gpu-bundle)
part kernels "${run[@]}"
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck initcheck; do
    part "kernels, under $tool" "${run[@]}" --sanitizer="$tool"
  done
else
  echo "check-gpu: compute-sanitizer is not on the PATH and was not run"
fi

# Beside the packages of this Python, and in front of them. Tests take the Python
# code from python_bindings, and its libraries from here.
site=$PWD/build/gpu-site
rm -rf "$site"
"$python" -m pip install -q --no-index --no-deps --no-compile --target "$site" \
  build/gpu-bundle/wheels/*.whl
export PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH} KVFUSE_LIB_DIR=$site/kvfuse
export KVFUSE_CACHE_DIR=$PWD/build/gpu-cache
rm -rf "$KVFUSE_CACHE_DIR"

pytest=("$python" -m pytest -q --durations=5)
! "$python" -c 'import xdist' 2>/dev/null ||
  pytest+=(--numprocesses=6 --dist=worksteal)
part "Python package" "${pytest[@]}" test/Integration/CUDA "${python_tests[@]}"

if [ ${#failed[@]} -gt 0 ]; then
  printf 'check-gpu: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
