#!/usr/bin/env bash
# Usage: scripts/configure.sh PRESET BUILD_DIR
# Runs CMake where a build folder was not configured yet, or with other
# arguments. Changes of CMakeLists.txt files are Ninja's to see.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
build_dir=$2
ptxas=$(scripts/find_ptxas.sh)
arguments=(
  --preset "$preset"
  "-DKVFUSE_PTXAS=$ptxas"
  "-DCMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache || true)"
)
configured="$build_dir/.configured"
wanted="${arguments[*]} $(sha256sum <CMakePresets.json)"

if [ ! -f "$build_dir/build.ninja" ] ||
  [ "$(cat "$configured" 2>/dev/null)" != "$wanted" ]; then
  rm -f "$configured"
  cmake --log-level=NOTICE "${arguments[@]}"
  echo "$wanted" >"$configured"
fi
