#!/usr/bin/env bash
# Usage: scripts/gpu_wheels.sh FOLDER
# Fills FOLDER with the wheels of kvfuse and of TVM-FFI for a machine with a GPU,
# which has no LLVM and maybe no network: LLVM is linked into libkvfuse.so.
# KVFUSE_GPU_PYTHON is the version of Python there, 3.12 if unset.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
build=build/standalone
python=build/venv/bin/python
version=${KVFUSE_GPU_PYTHON:-3.12}

scripts/configure.sh standalone "$build"
cmake --build "$build" --target kvfuse kvfuse_runtime

rm -rf "$folder" "$build/stripped"
mkdir -p "$folder" "$build/stripped"
for library in libkvfuse.so libkvfuse_runtime.so; do
  llvm-strip-22 -o "$build/stripped/$library" "$build/lib/$library"
done
KVFUSE_LIB_DIR=$PWD/$build/stripped "$python" -m pip wheel -q --no-deps \
  --no-build-isolation -w "$folder" ./python_bindings

ffi=$(sed -n 's/^\(apache-tvm-ffi==[^ ]*\).*/\1/p' requirements-dev.txt)
"$python" -m pip download -q --no-deps --only-binary=:all: \
  --python-version "$version" --implementation cp \
  --platform manylinux_2_28_x86_64 -d "$folder" "$ffi"

du -ch "$folder"/*.whl
