#!/usr/bin/env bash
# Usage: scripts/tidy.sh BUILD_DIR [--changed]
# Runs clang-tidy on all C++ sources, or on those that differ from origin/main.
# A finding is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# run-clang-tidy picks from the sources that were compiled, by regular
# expressions.
escape() { sed 's/[][\.*^$+?(){}|]/\\&/g'; }
root=$(escape <<<"$PWD")
patterns=("^$root/(?!build/)")

if [ "${2:-}" = --changed ] &&
  git rev-parse -q --verify 'origin/main^{commit}' >/dev/null; then
  mapfile -t patterns < <(
    {
      git diff --name-only --diff-filter=d origin/main -- '*.cpp'
      git ls-files --others --exclude-standard '*.cpp'
    } | escape | sed "s|.*|^$root/&\$|"
  )
  if [ ${#patterns[@]} -eq 0 ]; then
    echo "clang-tidy: no source differs from origin/main"
    exit 0
  fi
fi
run-clang-tidy-22 -quiet -p "$1" -warnings-as-errors='*' "${patterns[@]}"
