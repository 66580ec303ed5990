# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loading kernels ahead of a capture, with a CUDA driver that counts its calls."""

import os
import pathlib
import subprocess
import sys

import pytest

from kvfuse import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: What the tests of the runtime are built with; it has two devices.
DRIVER = (
    _library.find("libkvfuse_runtime.so").parents[1] / "test" / "Runtime" / "driver"
)

PROGRAM = """
import ctypes, torch, kvfuse
from torch._subclasses import FakeTensorMode

driver = ctypes.CDLL("libcuda.so.1")
driver.fakePrint(False)

def loads():
    return driver.fakeCount(b"cuModuleLoadDataEx")

def write(cache, slots, rows):
    cache[slots] = rows

inputs = torch.zeros(8, 16), torch.arange(3), torch.ones(3, 16)
"""


def run(program: str) -> str:
    """What a process prints that has the driver of the tests."""
    if not DRIVER.is_dir():
        pytest.skip(f"{DRIVER} is not built")
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM + program],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ
        | {
            "LD_LIBRARY_PATH": str(DRIVER),
            "PYTHONPATH": str(ROOT / "python_bindings"),
        },
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_load_puts_kernels_on_a_device_once():
    assert run(
        "compiled = kvfuse.compile(write, inputs, target='sm_90'); print(loads())\n"
        "for device in (1, 'cuda:1', torch.device('cuda:0'), 0):\n"
        "    compiled.load(device); print(loads())\n"
    ).split() == ["0", "1", "1", "2", "2"]


#: This torch may have no CUDA, so nothing can be traced there.
ON_CUDA = """
from torch.fx.experimental.proxy_tensor import make_fx

graph = make_fx(torch.func.functionalize(write), tracing_mode="fake")(*inputs)
torch.cuda.get_device_capability = lambda device: (8, 8 + device.index)
with FakeTensorMode():
    for node in graph.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            node.meta["val"] = torch.empty(
                value.shape, dtype=value.dtype, device="cuda:1"
            )
"""


def test_compile_loads_where_the_inputs_are():
    """So the first call may already be captured. The target follows from them, too."""
    assert run(
        ON_CUDA + "compiled = kvfuse.compile(graph); print(compiled.target, loads())\n"
        "compiled.load(1); print(loads())\n"
        "compiled.load(0); print(loads())\n"
    ).split() == ["sm_89", "1", "1", "2"]


def test_compiling_for_another_device_loads_nothing():
    assert run(
        ON_CUDA + "compiled = kvfuse.compile(graph, target='sm_90')\n"
        "print(compiled.target, loads())\n"
    ).split() == ["sm_90", "0"]


def test_a_device_that_is_not_there_is_an_error():
    printed = run(
        "try:\n"
        "    kvfuse.compile(write, inputs, target='sm_90').load(7)\n"
        "except RuntimeError as error:\n"
        "    print(error, loads())\n"
    )
    assert printed.startswith("cuda:7 cannot be used") and printed.endswith(" 0\n")


def test_there_is_nothing_to_load_for_the_cpu():
    assert run(
        "kvfuse.compile(write, inputs).load(); print(loads())\n"
        "print(driver.fakeCount(b'cuInit'))\n"
    ).split() == ["0", "0"]
