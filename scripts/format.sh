#!/usr/bin/env bash
# Usage: scripts/format.sh [--fix]
# Checks the format of all C++ sources, or puts it right.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
find . \( -path ./build -o -name '.?*' \) -prune -o \
  \( -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 -r clang-format-22 --style=file "${mode[@]}"
