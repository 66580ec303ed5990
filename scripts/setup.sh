#!/usr/bin/env bash
# Makes a Debian 12 machine ready to build and test kvfuse: packages from apt, a
# Python environment in build/venv, ptxas. Prints one line for each thing it
# installs, nothing when all is there. Safe to run any number of times.
set -euo pipefail
cd "$(dirname "$0")/.."

apt_packages=(
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools
  clang-22 lld-22 clang-format-22 clang-tidy-22
  # What LLVM's CMake package looks for and llvm-22-dev does not bring.
  zlib1g-dev libzstd-dev
  cmake ninja-build ccache
  python3 python3-venv python3-dev
)
venv=$PWD/build/venv
log=$PWD/build/setup.log

say() { echo "setup: $*"; }
fail() { echo "setup: error: $*" >&2; exit 1; }

# Runs a command with its output in the log, and shows the log if it fails.
quietly() {
  if ! "$@" >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    fail "this command failed: $*"
  fi
}

install_apt_packages() {
  local present missing=() package as_root=()
  present=" $(dpkg-query -W -f='${Package}=${db:Status-Status} ' \
    "${apt_packages[@]}" 2>/dev/null || true) "
  for package in "${apt_packages[@]}"; do
    [[ $present == *" $package=installed "* ]] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "run as root: apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  say "installing from apt: ${missing[*]}"
  quietly "${as_root[@]}" apt-get -q update
  quietly "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=600 install -y \
    --no-install-recommends "${missing[@]}"
}

# The wheels of torch-mlir are for Python 3.11, which is Debian 12's own.
python_311() {
  local candidate
  for candidate in python3 /usr/bin/python3 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
      2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  fail "no Python 3.11 was found, and the wheels of torch-mlir need it"
}

# The stamp names this folder, because a venv does not work after a move.
make_venv() {
  local stamp="$venv/.made-at" python
  if [ "$(cat "$stamp" 2>/dev/null)" = "$venv" ] &&
    "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    return 0
  fi
  python=$(python_311)
  say "making the Python environment build/venv"
  rm -rf "$venv"
  quietly "$python" -m venv "$venv"
  echo "$venv" >"$stamp"
}

# True if the venv has each package of a requirements file in its version, and
# the last installation from the file as it is now came to its end.
requirements_met() {
  local file=$1
  [ "$(cat "$venv/.$file.sha256" 2>/dev/null)" = "$(sha256sum <"$file")" ] &&
    "$venv/bin/python" -I - "$file" <<'EOF'
import sys
from importlib import metadata

for line in open(sys.argv[1]):
    name, _, version = line.split("#")[0].strip().partition("==")
    if not name:
        continue
    try:
        installed = metadata.version(name)
    except metadata.PackageNotFoundError:
        sys.exit(1)
    # A local label (2.13.0+cpu) names a build of the same version.
    if installed.split("+")[0] != version:
        sys.exit(1)
EOF
}

install_requirements() {
  local file=$1
  shift
  requirements_met "$file" && return 0
  say "installing from PyPI: $file"
  rm -f "$venv/.$file.sha256"
  quietly "$venv/bin/python" -m pip install --no-input \
    --disable-pip-version-check "$@" -r "$file"
  sha256sum <"$file" >"$venv/.$file.sha256"
}

mkdir -p build
exec 9>build/.setup.lock
flock 9

install_apt_packages
make_venv
install_requirements requirements-dev.txt
ptxas_status=0
scripts/find_ptxas.sh >/dev/null || ptxas_status=$?
if [ $ptxas_status -eq 1 ]; then
  # The stamp goes because the package may be there and its files gone.
  rm -f "$venv/.requirements-ptxas.txt.sha256"
  install_requirements requirements-ptxas.txt --no-deps --force-reinstall
  scripts/find_ptxas.sh >/dev/null ||
    fail "nvidia-cuda-nvcc was installed and holds no ptxas that runs here"
elif [ $ptxas_status -ne 0 ]; then
  exit 1
fi
