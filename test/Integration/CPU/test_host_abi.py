# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled functions called through TVM-FFI from Python, and from a C++ program.

Wrong arguments are named, and nothing is written.
"""

import pathlib
import subprocess

import pytest
import torch
import tvm_ffi

from kvfuse_testing import abi, host_abi
from kvfuse_testing.host_abi import DIM, HEADS, MODULE, Call

HERE = pathlib.Path(__file__).resolve().parent
FUSE = ("on", "off")


def load(compiler, *options: str, target: str = "cpu", text: str = MODULE):
    """The module of functions of a shared library."""
    abi.load_runtime()
    library = compiler.compile(text, f"--target={target}", "--emit=shared", *options)
    path = library.with_suffix(".so")
    if not path.exists():
        path.symlink_to(library)
    return tvm_ffi.load_module(str(path))


def strided(cache: torch.Tensor) -> torch.Tensor:
    """The same contents, heads outermost in memory, behind an offset."""
    rows = cache.shape[0]
    base = torch.zeros(1 + HEADS * rows * DIM, dtype=cache.dtype)
    view = base[1:].view(HEADS, rows, DIM).transpose(0, 1)
    return view.copy_(cache)


@pytest.mark.parametrize("fuse", FUSE)
def test_writes_what_torch_writes(compiler, fuse):
    call = Call.make()
    expected = call.expected()
    assert load(compiler, f"--fuse={fuse}")["main"](*call.arguments()) is None
    assert torch.equal(call.k_cache, expected[0])
    assert torch.equal(call.v_cache, expected[1])


def test_honours_strides_and_offsets(compiler):
    call = Call.make()
    call.k_cache, call.k = strided(call.k_cache), strided(call.k)
    call.slots = torch.stack([call.slots, call.slots], dim=1)[:, 1]
    expected = call.expected()
    load(compiler)["main"](*call.arguments())
    assert torch.equal(call.k_cache, expected[0])
    assert torch.equal(call.v_cache, expected[1])


@pytest.mark.parametrize("fuse", FUSE)
def test_no_tokens(compiler, fuse):
    call = Call.make(tokens=0)
    load(compiler, f"--fuse={fuse}")["main"](*call.arguments())
    assert not call.k_cache.any() and not call.v_cache.any()


def test_an_integer_is_a_float(compiler):
    call = Call.make()
    call.scale = 3
    expected = call.expected()
    load(compiler)["main"](*call.arguments())
    assert torch.equal(call.v_cache, expected[1])


#: What is wrong -> how to make it so, and the error.
WRONG = {
    "dtype of a cache": (
        {"k_cache": lambda call: call.k_cache.to(torch.float16)},
        TypeError,
        r"argument 0 \('k_cache'\): expects bfloat16, got float16",
    ),
    "dtype of slots": (
        {"slots": lambda call: call.slots.int()},
        TypeError,
        r"argument 4 \('slots'\): expects int64, got int32",
    ),
    "rank": (
        {"v": lambda call: call.v[0]},
        ValueError,
        r"argument 3 \('v'\): expects 3 dimensions, got 2",
    ),
    "static size": (
        {"k": lambda call: call.k[:, :, :8]},
        ValueError,
        r"argument 2 \('k'\): expects size 16 in dimension 2, got 8",
    ),
    "a tensor for a scalar": (
        {"scale": lambda call: call.k},
        TypeError,
        r"argument 5 \('scale'\)",
    ),
    "a scalar for a tensor": (
        {"v_cache": lambda call: 1},
        TypeError,
        r"argument 1 \('v_cache'\)",
    ),
    "text": (
        {"scale": lambda call: "two"},
        TypeError,
        r"argument 5 \('scale'\): expects a number of type float32",
    ),
    "one cache twice": (
        {"v_cache": lambda call: call.k_cache},
        ValueError,
        r"SM8: .*arguments 0 \('k_cache'\) and 1 \('v_cache'\) overlap",
    ),
    "values in a cache": (
        {
            "k": lambda call: call.k_cache.view(torch.float32).as_strided(
                (3, HEADS, DIM), (HEADS * DIM // 2, DIM // 2, 1)
            )
        },
        ValueError,
        r"SM8: .*arguments 0 \('k_cache'\) and 2 \('k'\) overlap",
    ),
    "fewer value rows than slots": (
        {"v": lambda call: call.v[:2]},
        ValueError,
        # Unfused, the values are a temporary, which has no name.
        r"SX10: .*'v(_cache)?'.*'slots'",
    ),
    "more value rows than slots": (
        {"slots": lambda call: call.slots[:2]},
        ValueError,
        r"SX10: .*'slots'",
    ),
}


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments(compiler, wrong, fuse):
    changes, error, message = WRONG[wrong]
    call = Call.make()
    caches = [call.k_cache, call.v_cache]
    for name, change in changes.items():
        setattr(call, name, change(call))
    with pytest.raises(error, match=message):
        load(compiler, f"--fuse={fuse}")["main"](*call.arguments())
    for cache in caches:
        assert not cache.any(), "nothing is written"


@pytest.mark.parametrize("count", [0, 5, 7])
def test_wrong_count(compiler, count):
    call = Call.make()
    arguments = [*call.arguments(), 1.0][:count]
    with pytest.raises(TypeError, match=f"main takes 6 arguments, got {count}"):
        load(compiler)["main"](*arguments)
    assert not call.k_cache.any()


@pytest.mark.parametrize("slot", [6, -7, 2**40])
def test_sx5_out_of_bounds(compiler, slot):
    call = Call.make()
    call.slots[0] = slot
    around = torch.zeros(3, 6, HEADS, DIM, dtype=torch.bfloat16)
    call.k_cache = around[1]
    with pytest.raises(IndexError, match="SX5: index out of bounds"):
        load(compiler)["main"](*call.arguments())
    assert not around[0].any() and not around[2].any()


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
def test_bytes_of_either_sign(compiler, dtype):
    text = """
func.func @main(%c: tensor<?x8xi8> {bufferization.writable = true}, %v: tensor<?x8xi8>,
                %s: tensor<?xi32>) -> tensor<?x8xi8> {
  %0 = kv.write at(%s : tensor<?xi32>) negative(wrap) out_of_bounds(trap)
      put %v : tensor<?x8xi8> into %c : tensor<?x8xi8> map(affine_map<(t, s, d) -> (s, d)>)
  return %0 : tensor<?x8xi8>
}
"""
    function = load(compiler, text=text)["main"]
    cache, values = torch.zeros(4, 8, dtype=dtype), torch.full((1, 8), 100, dtype=dtype)
    slots = torch.tensor([2], dtype=torch.int32)
    function(cache, values, slots)
    assert torch.equal(cache[2:3], values)
    with pytest.raises(TypeError, match="argument 1: expects int8 or uint8, got bool"):
        function(cache, values.bool(), slots)


def test_libraries_of_equal_names_stay_apart(compiler):
    other = MODULE.replace("arith.mulf", "arith.addf")
    functions = [load(compiler)["main"], load(compiler, text=other)["main"]]
    calls = [Call.make(), Call.make()]
    for function, call in zip(functions, calls):
        function(*call.arguments())
    rows = calls[0].slots
    assert torch.equal(calls[0].k_cache[rows], (calls[0].k * 2).bfloat16())
    assert torch.equal(calls[1].k_cache[rows], (calls[1].k + 2).bfloat16())


def test_exported_symbols(compiler):
    """Nothing but the entries: objects of many layers can be linked together."""
    library = compiler.compile(MODULE, "--target=cpu", "--emit=shared")
    symbols = subprocess.run(
        ["llvm-nm-22", "-D", "--defined-only", "--format=just-symbols", str(library)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert {"__tvm_ffi_main", "_mlir_ciface_main"} <= set(symbols)
    for symbol in symbols:
        assert symbol.startswith(("__tvm_ffi_", "_mlir_ciface_")), symbol


def test_cpp_program(compiler, tmp_path):
    """Its header is C's, too."""
    source = HERE / "host_abi" / "client.cpp"
    program = host_abi.compile_program(tmp_path, compiler, source, "--target=cpu")
    includes = [f"-I{folder}" for folder in tvm_ffi.libinfo.include_paths()]
    subprocess.run(
        ["clang++-22", "-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror"]
        + ["-fsyntax-only", "-Wno-pragma-once-outside-header"]
        + [*includes, str(tmp_path / "write.h")],
        check=True,
    )
    assert host_abi.run_program(program) == [
        "through TVM-FFI: 0, cache 0 0 6 0",
        "out of bounds: -1, cache 0 0 6 0",
        "IndexError: SX5: index out of bounds in one of destinations 0 to 1",
        "direct: no message, cache 0 8 6 0",
        "direct, out of bounds: SX5: index out of bounds in one of destinations 0 to 1",
    ]
