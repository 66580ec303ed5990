# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What host code of a GPU asks the runtime for: a program in C++ is the runtime,
and prints it. No GPU is needed.
"""

import json
import pathlib
import subprocess

import pytest
import tvm_ffi

from kvfuse_testing import abi, host_abi
from kvfuse_testing.compile import report_path
from kvfuse_testing.host_abi import MODULE, Call

HERE = pathlib.Path(__file__).resolve().parent
TOKENS = 5


@pytest.fixture(scope="module", params=["on", "off"])
def fuse(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def program(compiler, tmp_path_factory, fuse) -> pathlib.Path:
    """The program with MODULE for sm_90, fused or not."""
    source = HERE / "host_abi" / "launches.cpp"
    options = ("--target=sm_90", f"--fuse={fuse}", "--count-branches")
    folder = tmp_path_factory.mktemp(f"fuse_{fuse}")
    return host_abi.compile_program(folder, compiler, source, *options, runtime=False)


def run(program: pathlib.Path, tokens=TOKENS, alignment=0, failing=0) -> list[str]:
    """What it prints: `alignment` is added to addresses, call `failing` fails."""
    return host_abi.run_program(program, *map(str, (tokens, alignment, failing)))


def having(lines: list[str], *starts: str) -> list[str]:
    """The lines that start so."""
    return [line for line in lines if line.startswith(starts)]


def parameters(line: str) -> list[int]:
    """The parameters of a line that tells of a launch."""
    return [int(number) for number in line.partition(": ")[2].split()]


def descriptors(tokens: int, alignment: int) -> list[list[int]]:
    """The arguments of `main` as kernels take them; the scalar is an f32's bits."""

    def memref(megabytes: int, sizes: list[int], strides: list[int]) -> list[int]:
        address = (megabytes << 20) + alignment
        return [address, address, 0, *sizes, *strides]

    rows = [memref(16 * i, [6, 2, 16], [32, 16, 1]) for i in (1, 2)]
    values = [memref(16 * i, [tokens, 2, 16], [32, 16, 1]) for i in (3, 4)]
    return [*rows, *values, memref(80, [tokens], [1]), [0x40000000]]


def test_description(program):
    lines = run(program)
    start = lines.index("function main on device 2")
    assert lines[start + 1 : start + 7] == [
        "k_cache: 4 16 1, rank 3, written -1 2 16",
        "v_cache: 4 16 1, rank 3, written -1 2 16",
        "k: 2 32 1, rank 3, read -1 2 16",
        "v: 2 32 1, rank 3, read -1 2 16",
        "slots: 0 64 1, rank 1, read -1",
        "scale: 2 32 1, rank -1, read",
    ]


def test_kernels_are_listed_for_loading(program):
    kernels = json.loads(report_path(program).read_text())["kernels"]
    names = {kernel["name"] for kernel in kernels if kernel["function"] == "main"}
    listed = having(run(program), "kernel ")
    assert sorted(listed) == sorted(f"kernel {name}, flags 1, text" for name in names)


@pytest.mark.parametrize("alignment", [0, 4])
def test_launch_parameters(program, fuse, alignment):
    """Aligned, one version is launched; otherwise another; with all arguments."""
    lines = run(program, alignment=alignment)
    launches = having(lines, "launch ")
    assert lines.count("returns nothing") == 1
    if fuse == "off":
        assert len(launches) == 8
        return
    (launch,) = launches
    name = launch.split()[1].rstrip(",")
    (kernel,) = [
        kernel
        for kernel in json.loads(report_path(program).read_text())["kernels"]
        if kernel["name"] == name and kernel["function"] == "main"
    ]
    shape = f"grid {TOKENS} 1 1, block {kernel['block_size']} 1 1"
    assert launch.startswith(f"launch {name}, {shape}:")
    assert kernel["branch"] == ("by element" if alignment else "16 bytes")
    arguments = descriptors(TOKENS, alignment)
    expected = [number for i in kernel["arguments"] for number in arguments[i]]
    *given, scale = parameters(launch)
    # Of a float's slot the upper half is not its own.
    assert [*given, scale & 0xFFFFFFFF] == expected
    branches = "branches 0 1" if alignment else "branches 1 0"
    assert lines[-1] == branches


def test_temporaries(program, fuse):
    """Fused there are none; unfused each is released once, after its last use."""
    lines = having(run(program), "allocate", "release", "launch")
    if fuse == "on":
        assert not having(lines, "allocate", "release")
        return
    # Addresses in megabytes; temporaries lie from 100 on, arguments below.
    live, made = set(), 100
    for line in lines:
        if line.startswith("allocate"):
            assert int(line.split()[1]) in (TOKENS * 2 * 16 * 4, TOKENS * 2 * 16 * 2)
            live.add(made)
            made += 1
        elif line.startswith("release"):
            live.remove(int(line.split()[1]))
        else:
            addresses = {number >> 20 for number in parameters(line)}
            assert addresses & set(range(100, made)) <= live
    assert not live


def test_no_tokens_launch_nothing(program):
    lines = run(program, tokens=0)
    assert not having(lines, "launch")
    assert "returns nothing" in lines


def test_error_ends_the_call(program):
    """A message of the runtime is returned, and nothing else is asked for."""
    calls = having(run(program), "launch", "allocate")
    for failing in range(1, len(calls) + 1):
        lines = run(program, failing=failing)
        assert "returns refused" in lines
        assert len(having(lines, "launch", "allocate")) == failing


def test_tensors_of_the_cpu_are_refused(compiler):
    abi.load_runtime()
    library = compiler.compile(MODULE, "--target=sm_90", "--emit=shared")
    path = library.with_suffix(".so")
    if not path.exists():
        path.symlink_to(library)
    call = Call.make()
    with pytest.raises(ValueError, match=r"argument 0 \('k_cache'\): .*cpu"):
        tvm_ffi.load_module(str(path))["main"](*call.arguments())
    assert not call.k_cache.any()


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100"])
def test_object_holds_the_kernels(compiler, target):
    """The symbols, and the text of --emit=ptx as it is."""
    options = (f"--target={target}", "--emit=obj")
    made = compiler.compile(MODULE, *options)
    symbols = subprocess.run(
        ["llvm-nm-22", str(made)], check=True, capture_output=True, text=True
    ).stdout
    for symbol in ("T __tvm_ffi_main", "T __tvm_ffi_main_load", "T _mlir_ciface_main"):
        assert f" {symbol}\n" in symbols
    for symbol in ("kvfuse_call", "kvfuse_load", "kvfuse_launch"):
        assert f" U {symbol}\n" in symbols
    assert " T main\n" not in symbols, "it would be a program's"
    ptx = compiler.compile(MODULE, f"--target={target}", "--emit=ptx").read_bytes()
    assert ptx.rstrip(b"\0") + b"\0" in made.read_bytes()
