# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every reason for refusing a write in kv IR: its remark, and the bytes it leaves.

In a program `// write` ends the line of the write that is refused, `// cause` that
of the operation at fault. NumPy computes the expected bytes.
"""

import dataclasses
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
import torch

from kvfuse_testing import abi
from kvfuse_testing.remarks import read_remarks

PAGES, PAGE, HEADS, HEAD_DIM = 4, 4, 2, 8
CACHE = (PAGES, PAGE, HEADS, HEAD_DIM)
SLOTS = np.array([5, 0, 15, 7, 8], np.int64)

HEADER = """
!cache = tensor<4x4x2x8xf32>
!rows = tensor<?x2x8xf32>
!slots = tensor<?xi64>
#pair = affine_map<(t, p, o, h, d) -> (p, o, h, d)>
#slot = affine_map<(t, s, h, d) -> (s floordiv 4, s mod 4, h, d)>
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """A program @main, its arguments, and what it leaves in those that change."""

    reason: str
    program: str
    #: Makes the arguments anew for every call.
    arguments: Callable[[], list[np.ndarray | int]]
    #: Does to the arguments what the program does.
    oracle: Callable[..., None]


def rows(tokens: int = len(SLOTS), seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random((tokens, HEADS, HEAD_DIM), np.float32)


def cache(seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).random(CACHE, np.float32)


def put(target: np.ndarray, slots: np.ndarray, values: np.ndarray) -> None:
    """The plain paged write."""
    target[slots // PAGE, slots % PAGE] = values


# One case for each reason.

NEGATIVE_SLOTS = np.array([-1, -7, 6, 3], np.int64)


def put_truncated(target, slots, values):
    page = np.trunc(slots / PAGE).astype(np.int64)
    target[page, slots - page * PAGE] = values


MIXED_DIVISION = Case(
    "mixed-division",
    """
func.func @main(%c: !cache {bufferization.writable = true}, %s: !slots, %k: !rows)
    -> !cache {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : !slots
  %four = arith.constant 4 : i64
  %fours = tensor.splat %four[%n] : !slots
  %page = arith.divsi %s, %fours : !slots // cause
  %offset = arith.remsi %s, %fours : !slots
  %r = kv.write at(%page, %offset : !slots, !slots) negative(wrap) out_of_bounds(trap) // write
    put %k : !rows into %c : !cache map(#pair)
  return %r : !cache
}""",
    lambda: [cache(), NEGATIVE_SLOTS, rows(4)],
    put_truncated,
)

#: Twice the second one is 6 in 32 bits.
WRAPPING_SLOTS = np.array([3, 2**31 + 3, 1], np.uint32).view(np.int32)


def put_doubled(target, slots, values):
    put(target, (slots * np.int32(2)).astype(np.int64), values)


INDEX_OVERFLOW = Case(
    "index-overflow",
    """
func.func @main(%c: !cache {bufferization.writable = true}, %s: tensor<?xi32>, %k: !rows)
    -> !cache {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?xi32>
  %two = arith.constant 2 : i32
  %twos = tensor.splat %two[%n] : tensor<?xi32>
  %double = arith.muli %s, %twos : tensor<?xi32> // cause
  %r = kv.write at(%double : tensor<?xi32>) negative(wrap) out_of_bounds(trap) // write
    put %k : !rows into %c : !cache map(#slot)
  return %r : !cache
}""",
    lambda: [cache(), WRAPPING_SLOTS, rows(3)],
    put_doubled,
)


def put_both(first, second, slots, other, k, v):
    put(first, slots, k)
    put(second, other, v)


DIFFERENT_INDICES = Case(
    "different-indices",
    """
func.func @main(%a: !cache {bufferization.writable = true},
                %b: !cache {bufferization.writable = true},
                %s: !slots, %t: !slots, %k: !rows, %v: !rows) -> (!cache, !cache) {
  %r = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // cause
    put %k : !rows into %a : !cache map(#slot)
  %q = kv.write at(%t : !slots) negative(wrap) out_of_bounds(trap) // write
    put %v : !rows into %b : !cache map(#slot)
  return %r, %q : !cache, !cache
}""",
    lambda: [cache(2), cache(3), SLOTS, SLOTS[::-1].copy() - 1, rows(), rows(seed=4)],
    put_both,
)


#: In both layers of a window.
WINDOW_SLOTS = np.array([3, 19, 30, 8], np.int64)


def put_windows(pool, slots, k, v):
    put(pool[:2].reshape(-1, *CACHE[1:]), slots, k)
    put(pool[1:].reshape(-1, *CACHE[1:]), slots, v)


DEST_ALIAS = Case(
    "dest-alias",
    """
#layer = affine_map<(t, s, h, d) -> (s floordiv 16, (s floordiv 4) mod 4, s mod 4, h, d)>
func.func @main(%p: tensor<3x4x4x2x8xf32> {bufferization.writable = true},
                %s: !slots, %k: !rows, %v: !rows) -> tensor<3x4x4x2x8xf32> {
  %a = tensor.extract_slice %p[0, 0, 0, 0, 0] [2, 4, 4, 2, 8] [1, 1, 1, 1, 1]
      : tensor<3x4x4x2x8xf32> to tensor<2x4x4x2x8xf32>
  %r = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // cause
    put %k : !rows into %a : tensor<2x4x4x2x8xf32> map(#layer)
  %p1 = tensor.insert_slice %r into %p[0, 0, 0, 0, 0] [2, 4, 4, 2, 8] [1, 1, 1, 1, 1]
      : tensor<2x4x4x2x8xf32> into tensor<3x4x4x2x8xf32>
  %b = tensor.extract_slice %p1[1, 0, 0, 0, 0] [2, 4, 4, 2, 8] [1, 1, 1, 1, 1]
      : tensor<3x4x4x2x8xf32> to tensor<2x4x4x2x8xf32>
  %q = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // write
    put %v : !rows into %b : tensor<2x4x4x2x8xf32> map(#layer)
  %p2 = tensor.insert_slice %q into %p1[1, 0, 0, 0, 0] [2, 4, 4, 2, 8] [1, 1, 1, 1, 1]
      : tensor<2x4x4x2x8xf32> into tensor<3x4x4x2x8xf32>
  return %p2 : tensor<3x4x4x2x8xf32>
}""",
    lambda: [
        np.random.default_rng(2).random((3, *CACHE), np.float32),
        WINDOW_SLOTS,
        rows(4),
        rows(4, seed=4),
    ],
    put_windows,
)


def put_own_rows(target, slots):
    put(target, slots, target[1].reshape(PAGE, HEADS, HEAD_DIM).copy())


ALIAS_VALUE = Case(
    "alias-value",
    """
func.func @main(%c: !cache {bufferization.writable = true}, %s: !slots) -> !cache { // cause
  %k = tensor.extract_slice %c[1, 0, 0, 0] [1, 4, 2, 8] [1, 1, 1, 1]
      : !cache to tensor<4x2x8xf32>
  %r = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // write
    put %k : tensor<4x2x8xf32> into %c : !cache map(#slot)
  return %r : !cache
}""",
    lambda: [cache(), np.array([5, 4, 7, 6], np.int64)],
    put_own_rows,
)


def put_around_readers(first, second, new, old, slots, k, v):
    put(first, slots, k)
    new[:] = first[1] + first[1]
    old[:] = second[2] + second[2]
    put(second, slots, v)


ORDER = Case(
    "order",
    """
func.func @main(%a: !cache {bufferization.writable = true},
                %b: !cache {bufferization.writable = true},
                %new: tensor<4x2x8xf32> {bufferization.writable = true},
                %old: tensor<4x2x8xf32> {bufferization.writable = true},
                %s: !slots, %k: !rows, %v: !rows)
    -> (!cache, !cache, tensor<4x2x8xf32>, tensor<4x2x8xf32>) {
  %r = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap)
    put %k : !rows into %a : !cache map(#slot)
  %x = tensor.extract_slice %r[1, 0, 0, 0] [1, 4, 2, 8] [1, 1, 1, 1] // cause
      : !cache to tensor<4x2x8xf32>
  %x2 = arith.addf %x, %x : tensor<4x2x8xf32>
  %n = tensor.insert_slice %x2 into %new[0, 0, 0] [4, 2, 8] [1, 1, 1]
      : tensor<4x2x8xf32> into tensor<4x2x8xf32>
  %y = tensor.extract_slice %b[2, 0, 0, 0] [1, 4, 2, 8] [1, 1, 1, 1]
      : !cache to tensor<4x2x8xf32>
  %y2 = arith.addf %y, %y : tensor<4x2x8xf32>
  %o = tensor.insert_slice %y2 into %old[0, 0, 0] [4, 2, 8] [1, 1, 1]
      : tensor<4x2x8xf32> into tensor<4x2x8xf32>
  %q = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // write
    put %v : !rows into %b : !cache map(#slot)
  return %r, %q, %n, %o : !cache, !cache, tensor<4x2x8xf32>, tensor<4x2x8xf32>
}""",
    lambda: [
        cache(2),
        cache(3),
        np.zeros((4, HEADS, HEAD_DIM), np.float32),
        np.zeros((4, HEADS, HEAD_DIM), np.float32),
        SLOTS,
        rows(),
        rows(seed=4),
    ],
    put_around_readers,
)

def put_truncated_values(target, slots, values):
    put(target, slots, (values.view(np.uint32) >> 16).astype(np.uint16))


CAST_MODE = Case(
    "cast-mode",
    """
func.func @main(%c: tensor<4x4x2x8xbf16> {bufferization.writable = true},
                %s: !slots, %k: !rows) -> tensor<4x4x2x8xbf16> {
  %x = arith.truncf %k toward_zero : !rows to tensor<?x2x8xbf16> // cause
  %r = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // write
    put %x : tensor<?x2x8xbf16> into %c : tensor<4x4x2x8xbf16> map(#slot)
  return %r : tensor<4x4x2x8xbf16>
}""",
    lambda: [np.zeros(CACHE, np.uint16), SLOTS, rows()],
    put_truncated_values,
)


def put_scaled(target, slots, values, scale):
    scaled = values * scale[:, None]
    put(target, slots, scaled.astype(ml_dtypes.float8_e4m3fn).view(np.uint8))


SCALE_RANK = Case(
    "scale-rank",
    """
func.func @main(%c: tensor<4x4x2x8xf8E4M3FN> {bufferization.writable = true},
                %s: !slots, %k: !rows, %scale: tensor<2xf32>)
    -> tensor<4x4x2x8xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : !rows
  %empty = tensor.empty(%n) : !rows
  %scales = linalg.broadcast ins(%scale : tensor<2xf32>) outs(%empty : !rows)
      dimensions = [0, 2]
  %x = arith.mulf %k, %scales : !rows // cause
  %y = kv.cast %x : !rows to tensor<?x2x8xf8E4M3FN>
  %r = kv.write at(%s : !slots) negative(wrap) out_of_bounds(trap) // write
    put %y : tensor<?x2x8xf8E4M3FN> into %c : tensor<4x4x2x8xf8E4M3FN> map(#slot)
  return %r : tensor<4x4x2x8xf8E4M3FN>
}""",
    lambda: [
        np.zeros(CACHE, np.uint8),
        SLOTS,
        rows(),
        np.array([0.5, 3.0], np.float32),
    ],
    put_scaled,
)


def put_columns(target, slots, values):
    target[:, slots] = values.T


ELEMENT_SCATTER = Case(
    "element-scatter",
    """
func.func @main(%c: tensor<8x16xf32> {bufferization.writable = true},
                %s: tensor<5xi64>, %v: tensor<5x8xf32>) -> tensor<8x16xf32> {
  %channel = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %first = kv.apply affine_map<(c) -> (c * 16)>(%channel) : tensor<8xi64>
  %empty = tensor.empty() : tensor<5x8xi64>
  %firsts = linalg.broadcast ins(%first : tensor<8xi64>)
      outs(%empty : tensor<5x8xi64>) dimensions = [0]
  %slots = linalg.broadcast ins(%s : tensor<5xi64>)
      outs(%empty : tensor<5x8xi64>) dimensions = [1]
  %grid = arith.addi %firsts, %slots : tensor<5x8xi64>
  %at = tensor.collapse_shape %grid [[0, 1]] : tensor<5x8xi64> into tensor<40xi64> // cause
  %x = tensor.collapse_shape %v [[0, 1]] : tensor<5x8xf32> into tensor<40xf32>
  %r = kv.write at(%at : tensor<40xi64>) negative(wrap) out_of_bounds(trap) // write
    put %x : tensor<40xf32> into %c : tensor<8x16xf32>
        map(affine_map<(t, i) -> (i floordiv 16, i mod 16)>)
  return %r : tensor<8x16xf32>
}""",
    lambda: [
        np.zeros((8, 16), np.float32),
        SLOTS,
        np.random.default_rng(1).random((5, 8), np.float32),
    ],
    put_columns,
)

CASES = [
    MIXED_DIVISION,
    INDEX_OVERFLOW,
    DIFFERENT_INDICES,
    DEST_ALIAS,
    ALIAS_VALUE,
    ORDER,
    CAST_MODE,
    SCALE_RANK,
    ELEMENT_SCATTER,
]


def marked_line(program: str, mark: str) -> int | None:
    """The line of the program that ends in `// mark`, counted from one."""
    lines = (HEADER + program).splitlines()
    return next(
        (n for n, line in enumerate(lines, 1) if line.endswith("// " + mark)), None
    )


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
    places = (torch.from_numpy(k), torch.from_numpy(v), k_cache, spread[..., ::2], slots)
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
