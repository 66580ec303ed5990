# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every reason for refusing a write in kv IR: its remark, and the bytes it leaves.

In a program `// write` ends the line of the write that is refused, `// cause` that
of the operation at fault. NumPy computes the expected bytes.
"""

import numpy as np
import pytest
import torch

from kvfuse_testing import abi
from kvfuse_testing.refusals import CASES, HEAD_DIM, HEADER, HEADS, marked_line, rows
from kvfuse_testing.remarks import read_remarks


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.reason)
def test_remark(compiler, tmp_path, case):
    """One missed remark: its name, the write's line, the cause's line."""
    options = ("--target=cpu", "--remarks", "-o", str(tmp_path / "out"))
    result = compiler.run("-", *options, text=HEADER + case.program)
    stderr = result.stderr.decode()
    missed = [r for r in read_remarks(stderr) if r.kind == "Missed"]
    assert [r.name for r in missed] == [case.reason], stderr
    assert missed[0].line == marked_line(case.program, "write")
    assert missed[0].cause == marked_line(case.program, "cause")


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.reason)
def test_bytes(compiler, case, fuse):
    """What is left does what the program says."""
    options = ("--target=cpu", "--emit=shared", f"--fuse={fuse}")
    library = abi.Library(compiler.compile(HEADER + case.program, *options))
    found, expected = case.arguments(), case.arguments()
    library.call(
        "main", *(x if isinstance(x, int) else torch.from_numpy(x) for x in found)
    )
    case.oracle(*expected)
    for left, right in zip(found, expected, strict=True):
        assert np.array_equal(left, right)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.reason)
def test_required(compiler, tmp_path, case):
    """With --fuse=required the refusal is an error at the write."""
    options = ("--target=cpu", "--fuse=required", "-o", str(tmp_path / "out"))
    result = compiler.run("-", *options, text=HEADER + case.program)
    assert result.returncode == 1
    line = marked_line(case.program, "write")
    assert f"<stdin>:{line}:" in result.stderr.decode()
    assert not (tmp_path / "out").exists()


# Destinations that only buffers can have.

OVERLAP = """
#slot = affine_map<(t, s, h, d) -> (s, h, d)>
#expanded = strided<[0, 8, 1]>
module { module @kvfuse {
func.func @main(%c: memref<4x2x8xf32, #expanded>, // cause
                %other: memref<4x2x8xf32>, %s: memref<?xi64>, %k: memref<?x2x8xf32>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap)
    put %k : memref<?x2x8xf32> into %other : memref<4x2x8xf32> map(#slot)
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) // write
    put %k : memref<?x2x8xf32> into %c : memref<4x2x8xf32, #expanded> map(#slot)
  return
}}}"""


def check_remark(compiler, tmp_path, reason: str, program: str, *options) -> None:
    """One missed remark at the lines that are marked, and an error where all is
    required to be fused."""
    lines = program.splitlines()
    write = next(n for n, line in enumerate(lines, 1) if line.endswith("// write"))
    cause = next(n for n, line in enumerate(lines, 1) if line.endswith("// cause"))
    options = ("--target=cpu", "-o", str(tmp_path / "out"), *options)
    result = compiler.run("-", *options, "--remarks", text=program)
    remarks = read_remarks(result.stderr.decode())
    (remark,) = [r for r in remarks if r.kind == "Missed"]
    assert (remark.name, remark.line, remark.cause) == (reason, write, cause)

    (tmp_path / "out").unlink()
    result = compiler.run("-", *options, "--fuse=required", text=program)
    assert result.returncode == 1
    assert f"<stdin>:{write}:" in result.stderr.decode()
    assert f"error: {reason}: " in result.stderr.decode()
    assert not (tmp_path / "out").exists()


def test_overlap(compiler, tmp_path):
    """All pages are one page. Of one token, the place of its row is certain."""
    check_remark(compiler, tmp_path, "overlap", OVERLAP)
    library = abi.Library(compiler.compile(OVERLAP, "--target=cpu", "--emit=shared"))
    page, other = torch.zeros(1, HEADS, HEAD_DIM), torch.zeros(4, HEADS, HEAD_DIM)
    row = torch.from_numpy(rows(1))
    library.call("main", page.expand(4, -1, -1), other, torch.tensor([2]), row)
    assert torch.equal(page, row)
    assert torch.equal(other, torch.nn.functional.pad(row, (0, 0, 0, 0, 2, 1)))


INNER_STRIDE = """
#slot = affine_map<(t, s, h, d) -> (s, h, d)>
#spread = strided<[32, 16, 2]>
module { module @kvfuse {
func.func @main(%k: memref<?x2x8xf32>, %v: memref<?x2x8xf32>, %kc: memref<4x2x8xf32>,
                %vc: memref<4x2x8xf32, #spread>, // cause
                %s: memref<?xi64>) {
  kv.write at(%s : memref<?xi64>) negative(wrap) out_of_bounds(trap) disjoint // write
    put %k : memref<?x2x8xf32> into %kc : memref<4x2x8xf32> map(#slot)
    put %v : memref<?x2x8xf32> into %vc : memref<4x2x8xf32, #spread> map(#slot)
  return
}}}"""


@pytest.mark.parametrize("apart", [True, False])
def test_inner_stride(compiler, tmp_path, apart):
    """Elements of a row lie two apart: by element, and, if so wished, apart."""
    options = ("--unit-stride-only",) if apart else ()
    if apart:
        check_remark(compiler, tmp_path, "inner-stride", INNER_STRIDE, *options)
    options = ("--target=cpu", "--emit=shared", *options)
    path = compiler.compile(INNER_STRIDE, *options)
    branches = {kernel["branch"] for kernel in compiler.kernels(path)}
    assert ("apart" in branches) == apart

    slots, k, v = torch.tensor([2, 0]), rows(2), rows(2, seed=4)
    k_cache, spread = torch.zeros(4, 2, 8), torch.zeros(4, 2, 16)
    places = (
        torch.from_numpy(k),
        torch.from_numpy(v),
        k_cache,
        spread[..., ::2],
        slots,
    )
    abi.Library(path).call("main", *places)
    expected, expected_spread = np.zeros((4, 2, 8)), np.zeros((4, 2, 16))
    expected[[2, 0]], expected_spread[[2, 0], :, ::2] = k, v
    assert np.array_equal(k_cache, expected)
    assert np.array_equal(spread, expected_spread)


# A cache that cannot be written in place is an error: the chain would copy it.

OLD_CACHE_LIVE = """
func.func @main(%c: !cache {bufferization.writable = true}, %s: !slots, %k: !rows)
    -> (!cache, !cache) {
  %r = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // write
    put %k : !rows into %c : !cache map(#slot)
  return %r, %c : !cache, !cache // cause
}"""
CACHE_COPIED = """
func.func @main(%c: !cache, %s: !slots, %k: !rows) -> !cache {
  %r = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // write
    put %k : !rows into %c : !cache map(#slot)
  return %r : !cache
}"""


@pytest.mark.parametrize(
    ("reason", "program"),
    [("old-cache-live", OLD_CACHE_LIVE), ("cache-copied", CACHE_COPIED)],
)
def test_error(compiler, tmp_path, reason, program):
    options = ("--target=cpu", "--remarks", "-o", str(tmp_path / "out"))
    result = compiler.run("-", *options, text=HEADER + program)
    stderr = result.stderr.decode()
    line = marked_line(program, "write")
    assert result.returncode == 1
    assert f"<stdin>:{line}:8: error: {reason}: " in stderr
    (remark,) = read_remarks(stderr)
    assert (remark.name, remark.line) == (reason, line)
    assert remark.cause == marked_line(program, "cause")
    assert not (tmp_path / "out").exists()
