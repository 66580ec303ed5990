# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel: one for every Python, and what it needs in an environment of its own."""

import os
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

import pytest

import kvfuse
from kvfuse import _library
from test_readme import CHECK, ROOT, quick_start

PACKAGE = ROOT / "python_bindings"
PYENV = pathlib.Path("/root/.pyenv/versions")

#: Without torch: MLIR, on NumPy arrays of a type that NumPy does not know.
ON_NUMPY = """
import sys, ml_dtypes, numpy as np, kvfuse
cache = np.zeros((8, 4, 16), ml_dtypes.float8_e4m3fn)
rows = np.arange(48, dtype=np.float32).reshape(3, 16)
slots = np.array([5, 0, 30])
write = kvfuse.compile(open(sys.argv[1]).read(), mutates=(0,))
write(cache, slots, rows)
assert np.array_equal(cache.reshape(32, 16)[slots], rows.astype(cache.dtype))
assert "torch" not in sys.modules
print(write.launches_unfused, write.launches)
"""


def run(*command: str | pathlib.Path, **variables: str) -> str:
    """Standard output of a command that neither sees this checkout nor fails."""
    hidden = ("PYTHONPATH", "KVFUSE_LIB_DIR", "KVFUSE_BIN_DIR")
    env = {k: v for k, v in os.environ.items() if k not in hidden} | variables
    result = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        env=env,
        cwd="/",
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("wheel")
    libraries = str(_library.find("libkvfuse.so").parent)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps")
    options = ("--no-build-isolation", "--wheel-dir", folder)
    run(*pip, *options, PACKAGE, KVFUSE_LIB_DIR=libraries)
    (path,) = folder.iterdir()
    return path


def make_environment(python: pathlib.Path, folder: pathlib.Path, *packages: object):
    """A new virtual environment with packages; its interpreter."""
    run(python, "-m", "venv", folder)
    interpreter = folder / "bin" / "python"
    run(interpreter, "-m", "pip", "install", "--quiet", *packages)
    return interpreter


@pytest.mark.long
def test_one_wheel_holds_the_libraries_for_every_python(wheel):
    assert wheel.name == f"kvfuse-{kvfuse.__version__}-cp310-abi3-linux_x86_64.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {path.name for path in (PACKAGE / "kvfuse").glob("*.py")}
    libraries = {"libkvfuse.so", "libkvfuse_runtime.so", "_tensor_call.abi3.so"}
    assert {f"kvfuse/{n}" for n in package | libraries | {"py.typed"}} <= names


@pytest.mark.long
def test_the_quick_start_runs_in_a_fresh_environment(wheel, tmp_path):
    python = make_environment(sys.executable, tmp_path / "venv", wheel)
    # Torch is too large to install for a test.
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    pathlib.Path(site.strip(), "torch.pth").write_text(sysconfig.get_path("purelib"))
    script = tmp_path / "quick_start.py"
    script.write_text(quick_start() + CHECK + "print(kvfuse.__file__)")
    assert str(tmp_path / "venv") in run(python, "-W", "ignore", script)
    assert "entries" in run(tmp_path / "venv" / "bin" / "kvfuse", "cache")


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.10", "3.12", "3.13"])
def test_the_wheel_runs_on_other_pythons(wheel, tmp_path, version):
    pythons = sorted(PYENV.glob(f"{version}.*/bin/python"))
    if not pythons:
        pytest.skip(f"no Python {version} in {PYENV}")
    import torch

    def write(cache, slots, rows):
        cache[slots // 4, slots % 4] = rows.to(cache.dtype)

    cache = torch.zeros(8, 4, 16, dtype=torch.float8_e4m3fn)
    inputs = cache, torch.arange(3), torch.zeros(3, 16)
    (tmp_path / "write.mlir").write_text(kvfuse.compile(write, inputs).mlir("input"))
    python = make_environment(
        pythons[-1], tmp_path / "venv", wheel, "numpy", "ml_dtypes"
    )
    assert run(python, "-c", ON_NUMPY, tmp_path / "write.mlir") == "4 1\n"


@pytest.mark.long
def test_without_libraries_the_build_says_what_to_do(tmp_path):
    result = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
        + ["--wheel-dir", str(tmp_path), str(PACKAGE)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"KVFUSE_LIB_DIR": str(tmp_path)},
    )
    assert result.returncode
    assert (
        "run `make build` first, or set KVFUSE_LIB_DIR" in result.stdout + result.stderr
    )
