# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Index arithmetic that stays in front of the write: one kernel an operation.

Iotas, broadcasts, transposes, reshapes, tables and constants, as an unfused
build runs them; NumPy computes the expected bytes.
"""

import numpy
import pytest
import torch

from kvfuse_testing import abi

TOKENS, HEADS, HEAD_DIM, ROWS = 5, 2, 4, 11
TABLE = torch.tensor([7, 2, 9, 0, 4, 10, 5, 1])

PROGRAM = """
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%cache: tensor<?x4x4xf32> {bufferization.writable = true},
                %rows: tensor<?x2x4xf32>, %slots: tensor<?x1xi64>,
                %table: tensor<?xi64>) -> tensor<?x4x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %slots, %c0 : tensor<?x1xi64>
  %grid = tensor.empty(%n) : tensor<?x2xi64>
{index}
  %0 = kv.write at(%slot, %head : tensor<?x2xi64>, tensor<?x2xi64>)
      negative(wrap) out_of_bounds(trap)
    put %rows : tensor<?x2x4xf32> into %cache : tensor<?x4x4xf32>
        map(affine_map<(t, r, s, h, d) -> (s, h, d)>)
  return %0 : tensor<?x4x4xf32>
}
"""

#: %slot: the slots, once for each head. %head: 0 and 1, for each token.
SLOT = """
  %flat = tensor.collapse_shape %slots [[0, 1]] : tensor<?x1xi64> into tensor<?xi64>
  %slot = linalg.broadcast ins(%flat : tensor<?xi64>)
      outs(%grid : tensor<?x2xi64>) dimensions = [1]"""
HEAD = """
  %iota = tensor.generate {
  ^bb0(%i: index):
    %x = arith.index_cast %i : index to i64
    tensor.yield %x : i64
  } : tensor<2xi64>
  %head = linalg.broadcast ins(%iota : tensor<2xi64>)
      outs(%grid : tensor<?x2xi64>) dimensions = [0]"""


def heads_of(slots):
    """Heads 0 and 1 for each token."""
    return numpy.broadcast_to(numpy.arange(HEADS), (len(slots), HEADS))


def slots_of(slots):
    """The slot of each token, once for each head."""
    return numpy.repeat(slots[:, None], HEADS, axis=1)


#: Index arithmetic -> the same by NumPy, from the slots.
CASES = {
    "broadcast": (SLOT + HEAD, lambda s: (slots_of(s), heads_of(s))),
    "constant heads": (
        SLOT
        + """
  %picked = arith.constant dense<[[3], [1]]> : tensor<2x1xi64>
  %line = tensor.collapse_shape %picked [[0, 1]] : tensor<2x1xi64> into tensor<2xi64>
  %head = linalg.broadcast ins(%line : tensor<2xi64>)
      outs(%grid : tensor<?x2xi64>) dimensions = [0]""",
        lambda s: (slots_of(s), numpy.tile([3, 1], (len(s), 1))),
    ),
    "transpose": (
        SLOT
        + """
  %turned = tensor.empty(%n) : tensor<2x?xi64>
  %by_head = linalg.generic {indexing_maps = [#id],
      iterator_types = ["parallel", "parallel"]} outs(%turned : tensor<2x?xi64>) {
  ^bb0(%o: i64):
    %h = linalg.index 0 : index
    %t = linalg.index 1 : index
    %sum = arith.addi %h, %t : index
    %x = arith.index_cast %sum : index to i64
    %two = arith.constant 2 : i64
    %y = arith.remsi %x, %two : i64
    linalg.yield %y : i64
  } -> tensor<2x?xi64>
  %head = linalg.transpose ins(%by_head : tensor<2x?xi64>)
      outs(%grid : tensor<?x2xi64>) permutation = [1, 0]""",
        lambda s: (
            slots_of(s),
            (numpy.arange(len(s))[:, None] + numpy.arange(HEADS)) % 2,
        ),
    ),
    "table": (
        SLOT.replace("%slot =", "%place =")
        + HEAD
        + """
  %slot = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%place : tensor<?x2xi64>) outs(%grid : tensor<?x2xi64>) {
  ^bb0(%s: i64, %o: i64):
    %size = tensor.dim %table, %c0 : tensor<?xi64>
    %sizes = arith.index_cast %size : index to i64
    %place_in_table = arith.remsi %s, %sizes : i64
    %i = arith.index_cast %place_in_table : i64 to index
    %x = tensor.extract %table[%i] : tensor<?xi64>
    linalg.yield %x : i64
  } -> tensor<?x2xi64>""",
        lambda s: (slots_of(TABLE.numpy()[s % len(TABLE)]), heads_of(s)),
    ),
    "select and clamp": (
        SLOT.replace("%slot =", "%place =")
        + HEAD
        + """
  %k4 = arith.constant dense<4> : tensor<2xi64>
  %fours = linalg.broadcast ins(%k4 : tensor<2xi64>)
      outs(%grid : tensor<?x2xi64>) dimensions = [0]
  %small = arith.cmpi slt, %place, %fours : tensor<?x2xi64>
  %more = arith.addi %place, %fours : tensor<?x2xi64>
  %chosen = arith.select %small, %more, %place : tensor<?x2xi1>, tensor<?x2xi64>
  %slot = arith.maxsi %chosen, %fours : tensor<?x2xi64>""",
        lambda s: (slots_of(numpy.where(s < 4, s + 4, s)), heads_of(s)),
    ),
    "expand": (
        """
  %flat = tensor.collapse_shape %slots [[0, 1]] : tensor<?x1xi64> into tensor<?xi64>
  %column = tensor.expand_shape %flat [[0, 1]] output_shape [%n, 1]
      : tensor<?xi64> into tensor<?x1xi64>
  %again = tensor.collapse_shape %column [[0, 1]] : tensor<?x1xi64> into tensor<?xi64>
  %slot = linalg.broadcast ins(%again : tensor<?xi64>)
      outs(%grid : tensor<?x2xi64>) dimensions = [1]"""
        + HEAD,
        lambda s: (slots_of(s), heads_of(s)),
    ),
}


def program(case: str) -> str:
    """The module of one case."""
    return PROGRAM.replace("{index}", CASES[case][0])


@pytest.mark.parametrize("case", CASES)
def test_bytes(compiler, case):
    """The chain leaves what NumPy does, slots strided or not."""
    library = abi.Library(
        compiler.compile(program(case), "--target=cpu", "--emit=shared", "--fuse=off")
    )
    rows = torch.randn(TOKENS, HEADS, HEAD_DIM, generator=torch.Generator())
    wide = torch.tensor([[3, 0], [10, 0], [0, 0], [8, 0], [5, 0]])
    for slots in (wide[:, :1], wide[:, :1].contiguous()):
        cache = torch.full((ROWS, 4, HEAD_DIM), -1.0)
        expected = cache.numpy().copy()
        place, head = CASES[case][1](slots.numpy()[:, 0])
        expected[place, head] = rows.numpy()
        library.call("main", cache, rows, slots, TABLE)
        assert numpy.array_equal(cache.numpy(), expected)


@pytest.mark.parametrize("case", CASES)
def test_ptx(compiler, case):
    """Every step is a kernel, and the write another."""
    ptx = compiler.compile(
        program(case), "--target=sm_90", "--emit=ptx", "--fuse=off"
    ).read_text()
    assert ptx.count(".visible .entry") > 2


def test_constant_is_device_memory(compiler):
    """Kernels read the constant from their own module, not from the host's."""
    ptx = compiler.compile(
        program("constant heads"), "--target=sm_90", "--emit=ptx", "--fuse=off"
    ).read_text()
    assert ".global .align" in ptx
