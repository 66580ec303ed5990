# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Importing: what `import kvfuse` loads, and its neighbours in several orders."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import kvfuse

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python_bindings"

PACKAGES = ("triton", "torch", "torch_mlir", "jax", "kvfuse")
#: kvfuse last, first and between; then each of the others first.
ORDERS = [
    PACKAGES,
    PACKAGES[::-1],
    ("jax", "kvfuse", "torch_mlir", "torch", "triton"),
    *(
        pytest.param(PACKAGES[first:] + PACKAGES[:first], marks=pytest.mark.long)
        for first in (1, 2, 3)
    ),
]

#: Compiles a write, and runs it with each neighbour: torch-mlir has its own MLIR,
#: triton its own LLVM.
PROGRAM = """
import torch
from torch_mlir import fx
import jax.numpy
import triton.compiler.compiler
from triton._C import libtriton

def write(cache, slots, rows):
    cache[slots // 2, slots % 2] = rows

inputs = torch.zeros(4, 2, 8), torch.arange(3), torch.ones(3, 8)
compiled = kvfuse.compile(write, inputs)
compiled(*inputs)
assert inputs[0].sum() == 24, inputs[0]

class Module(torch.nn.Module):
    def forward(self, cache, slots, rows):
        write(cache, slots, rows)

module = fx.export_and_import(Module(), *inputs, output_type="raw")
text = module.operation.get_asm(print_generic_op_form=True)
kvfuse.compile(text, mutates=(0,))(*inputs)
context = libtriton.ir.context()
libtriton.ir.load_dialects(context)
assert jax.numpy.arange(3).sum() == 3
print("ran")
"""


def run(program: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(PACKAGE)},
    )


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_neighbours_in_any_order(order):
    result = run("\n".join(f"import {name}" for name in order) + PROGRAM)
    assert (result.returncode, result.stdout) == (0, "ran\n"), result.stderr[-3000:]


def test_import_loads_nothing():
    program = (
        "import sys; before = set(sys.modules); import kvfuse; dir(kvfuse);"
        "print(*set(sys.modules) - before)"
    )
    result = run(program)
    assert result.returncode == 0, result.stderr
    heavy = {"torch", "numpy", "jax", "tvm_ffi", "ctypes"}
    assert not heavy & set(result.stdout.split())
    assert "kvfuse" in result.stdout.split()


def test_public_names_are_there():
    for name in kvfuse.__all__:
        assert getattr(kvfuse, name) is not None
    assert set(kvfuse.__all__) <= set(dir(kvfuse))
    with pytest.raises(AttributeError, match="no attribute 'compiel'"):
        _ = kvfuse.compiel


def test_the_version_is_that_of_the_project():
    text = (ROOT / "CMakeLists.txt").read_text()
    assert re.search(r"project\(kvfuse VERSION (\S+)", text)[1] == kvfuse.__version__
