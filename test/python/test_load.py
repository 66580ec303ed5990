# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libkvfuse.so's load: objects linked into this process, called with torch tensors."""

from __future__ import annotations

import concurrent.futures
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest
import torch

from kvfuse_testing.library import load_library, run_python, write_program

HEADS, PAGE, HEAD_DIM = 4, 32, 64


@pytest.fixture(scope="module")
def library() -> Any:
    """The functions of libkvfuse.so."""
    return load_library()


def build(library: Any, options: str = "", target: str = "cpu") -> tuple[bytes, dict]:
    """`write_program` as an object, and its report."""
    options = f"mutates=auto {options}".strip()
    program = write_program(HEAD_DIM)
    output, report = library.compile(program, options, target, "obj", 2, None)
    return bytes(output), json.loads(report)


def load(library: Any, options: str = "") -> dict[str, Callable[..., Any]]:
    """The functions of `build`, by name."""
    return dict(library.load(build(library, options)[0]).items())


def arguments(
    slots: list[int], head_dim_stride: int = 1
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Slots [tokens], rows [tokens, heads, head dim] and an empty cache of 4 pages,
    whose last dimension has the stride given, in elements."""
    rows = torch.randn(len(slots), HEADS, HEAD_DIM).to(torch.bfloat16)
    shape = (4, HEADS, PAGE, HEAD_DIM * head_dim_stride)
    cache = torch.zeros(shape, dtype=torch.float8_e4m3fn)[..., ::head_dim_stride]
    return torch.tensor(slots), rows, cache


def bits(cache: torch.Tensor) -> torch.Tensor:
    """The bytes of a float8 tensor."""
    return cache.contiguous().view(torch.uint8)


def expected(slots: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The bytes of the cache after the write, as torch eager leaves them."""
    cache = torch.zeros(4, HEADS, PAGE, HEAD_DIM, dtype=torch.float8_e4m3fn)
    cache[slots // PAGE, :, slots % PAGE] = rows.to(cache.dtype)
    return bits(cache)


def test_it_writes(library: Any) -> None:
    write = load(library)["write"]
    slots, rows, cache = arguments([0, 33, 127])
    assert write(slots, rows, cache) is None
    assert torch.equal(bits(cache), expected(slots, rows))


def test_functions_outlive_what_made_them() -> None:
    code = """
import gc
from kvfuse_testing.library import load_library, write_program
library = load_library()
output, _ = library.compile(write_program(64), "mutates=auto", "cpu", "obj", 2, None)
write = library.load(output)["write"]
del library, output
gc.collect()
try:
    write(1, 2, 3)
except TypeError as error:
    print(error)
"""
    assert "argument 0" in run_python(code)


def test_branch_counts(library: Any) -> None:
    object_, report = build(library, "count-branches=true")
    names = [branch["branch"] for branch in report["branches"]]
    assert names == ["16 bytes", "4 bytes", "by element"]
    functions = library.load(object_)
    counts = functions["branch_counts"]
    assert list(counts()) == [0, 0, 0]
    slots, rows, cache = arguments([5])
    functions["write"](slots, rows, cache)
    assert list(counts()) == [1, 0, 0]
    slots, rows, cache = arguments([5], head_dim_stride=2)
    functions["write"](slots, rows, cache)
    assert list(counts()) == [1, 0, 1]
    assert torch.equal(bits(cache), expected(slots, rows))


def test_counters_belong_to_one_load(library: Any) -> None:
    object_, _ = build(library, "count-branches=true")
    first, second = library.load(object_), library.load(object_)
    first["write"](*arguments([1]))
    assert sum(first["branch_counts"]()) == 1
    assert sum(second["branch_counts"]()) == 0


def test_no_counters_unless_asked_for(library: Any) -> None:
    assert "branch_counts" not in load(library)


def test_objects_of_a_gpu_load_without_one(library: Any) -> None:
    object_, _ = build(library, target="sm_90")
    functions = library.load(object_)
    assert {"write", "write_load"} <= set(functions.keys())
    with pytest.raises((TypeError, ValueError), match="argument"):
        functions["write"](*arguments([0]))


def test_threads_load_and_call_at_once(library: Any) -> None:
    object_, _ = build(library)

    def run(slot: int) -> bool:
        write = library.load(object_)["write"]
        gc.collect(0)
        slots, rows, cache = arguments([slot, slot + 1])
        write(slots, rows, cache)
        return torch.equal(bits(cache), expected(slots, rows))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(64)))


# What cannot be loaded.


def test_text_is_not_an_object(library: Any) -> None:
    with pytest.raises(ValueError, match="expects an object file for this machine"):
        library.load(b"// PTX, or whatever it is that somebody has at hand")


def test_a_cut_object(library: Any, capfd: Any) -> None:
    object_, _ = build(library)
    with pytest.raises(ValueError, match="expects an object file for this machine"):
        library.load(object_[: len(object_) // 2])
    assert capfd.readouterr() == ("", "")


def test_what_is_not_defined_is_named(library: Any, capfd: Any) -> None:
    object_, _ = build(library)
    assert b"kvfuse_call\0" in object_
    with pytest.raises(ValueError, match=r"not found: \[ kvfuse_gone \]"):
        library.load(object_.replace(b"kvfuse_call\0", b"kvfuse_gone\0"))
    assert capfd.readouterr() == ("", "")


def test_an_object_without_functions(library: Any) -> None:
    object_, _ = build(library)
    with pytest.raises(ValueError, match="exports no function"):
        library.load(object_.replace(b"__tvm_ffi_", b"__another_"))
