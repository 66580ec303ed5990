#!/usr/bin/env bash
# Usage: scripts/gpu_wheels.sh BUILD_DIR FOLDER
# Fills FOLDER with the wheels of kvfuse and of TVM-FFI for a machine with a GPU,
# which has no LLVM and maybe no network: LLVM is linked into libkvfuse.so.
# KVFUSE_GPU_PYTHON is the version of Python there, 3.12 if unset.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
folder=$2
python=build/venv/bin/python
version=${KVFUSE_GPU_PYTHON:-3.12}

# Links libkvfuse.so with LLVM's archives, or with libLLVM.so as usual. Nothing is
# compiled again.
link_libraries() {
  cmake --log-level=ERROR "-DKVFUSE_STANDALONE=$1" "$build" >/dev/null
  cmake --build "$build" --target kvfuse kvfuse_runtime kvfuse_tensor_call
}

stripped=$build/stripped
rm -rf "$folder" "$stripped"
mkdir -p "$folder" "$stripped"
trap 'link_libraries OFF' EXIT
link_libraries ON
# Code generators that nothing here uses would be a quarter of all.
if llvm-nm-22 "$build/lib/libkvfuse.so" |
  grep 'LLVMInitialize\(AMDGPU\|SPIRV\)Target' >&2; then
  echo "gpu_wheels: libkvfuse.so holds LLVM's targets for other vendors" >&2
  exit 1
fi
for library in libkvfuse.so libkvfuse_runtime.so _tensor_call.abi3.so; do
  llvm-strip-22 -o "$stripped/$library" "$build/lib/$library"
done
KVFUSE_LIB_DIR=$(realpath "$stripped") "$python" -m pip wheel -q --no-deps \
  --no-build-isolation -w "$folder" ./python_bindings

ffi=$(sed -n 's/^\(apache-tvm-ffi==[^ ]*\).*/\1/p' requirements-dev.txt)
"$python" -m pip download -q --no-deps --only-binary=:all: \
  --python-version "$version" --implementation cp \
  --platform manylinux_2_28_x86_64 -d "$folder" "$ffi"

du -ch "$folder"/*.whl
