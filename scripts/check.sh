#!/usr/bin/env bash
# Usage: scripts/check.sh BUILD_DIR
# Runs every test, also after one part failed, and fails if any did. With
# KVFUSE_LONG=1 it adds the long tests, clang-tidy and the mutation check. The
# output ends with pytest's summary, or with the list of the parts that failed.
set -uo pipefail
cd "$(dirname "$0")/.."

build_dir=$1
python=build/venv/bin/python
long=${KVFUSE_LONG:-0}
failed=()

part() {
  local name=$1
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

lit=("$python" build/venv/bin/lit -sv --timeout=300)
# A worker for each core, with a run of neighbouring tests each, so that few of
# the fixtures of a module are made twice; who is done first takes from the others.
# Then more threads in a worker would only contend.
pytest=(env OMP_NUM_THREADS=1 "$python" -m pytest -q
  --numprocesses="$(nproc)" --dist=worksteal)
[ "$long" != 1 ] || pytest+=(-m "long or not long")

part clang-format scripts/format.sh
part "generated docs" scripts/docs.sh --check
[ "$long" != 1 ] || part clang-tidy scripts/tidy.sh "$build_dir"
part "lit, through kvfuse-opt" "${lit[@]}" "$build_dir/test"
part "lit, through mlir-opt and the plugin" "${lit[@]}" --param plugin=1 \
  "$build_dir/test"
[ "$long" != 1 ] || part mutations "$python" scripts/mutation_check.py
part pytest "${pytest[@]}" test/python test/Integration/CPU

if [ ${#failed[@]} -gt 0 ]; then
  printf 'check: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
