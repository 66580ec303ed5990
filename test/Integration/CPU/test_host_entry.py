# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a host entry does as a whole: all sizes tested before anything is written
(SX10), and the order of reads and writes that the program has (SM3, SM5).
"""

import pytest
import torch

from kvfuse_testing import abi

FUSE = ("on", "off")
CACHE = "tensor<?x?xf32> {bufferization.writable = true}"
MAP = "map(affine_map<(t, s, d) -> (s, d)>)"
POLICY = "negative(wrap) out_of_bounds(trap)"


def load(compiler, text: str, fuse: str) -> abi.Library:
    options = ("--target=cpu", "--emit=shared", f"--fuse={fuse}")
    return abi.Library(compiler.compile(text, *options))


def write(values: str, cache: str, slots: str = "%s") -> str:
    """A kv.write of `values` into rows `slots` of `cache`."""
    return (
        f"kv.write at({slots} : tensor<?xi64>) {POLICY}\n"
        f"    put {values} : tensor<?x?xf32> into {cache} : tensor<?x?xf32> {MAP}"
    )


def two_writes(second_slots: str) -> str:
    """Two writes, with arithmetic before each; they fuse if the slots are %s."""
    return f"""
func.func @main(%c: {CACHE}, %d: {CACHE}, %v: tensor<?x?xf32>, %w: tensor<?x?xf32>,
                %s: tensor<?xi64>, %r: tensor<?xi64>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {{
  %x = arith.negf %v : tensor<?x?xf32>
  %0 = {write("%x", "%c")}
  %y = arith.negf %w : tensor<?x?xf32>
  %1 = {write("%y", "%d", second_slots)}
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}}
"""


def arguments(rows: int = 2, width: int = 8) -> list[torch.Tensor]:
    """Caches, values and slots; `rows` and `width` are the second values'."""
    slots = torch.tensor([3, 1])
    caches = torch.zeros(2, 6, 8)
    values = [torch.ones(2, 8), torch.full((rows, width), 2.0)]
    return [*caches, *values, slots, slots.clone()]


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("slots", ["%s", "%r"])
def test_equal_sizes(compiler, slots, fuse):
    given = arguments()
    load(compiler, two_writes(slots), fuse).call("main", *given)
    for cache, value in zip(given, (-1.0, -2.0)):
        expected = torch.zeros(6, 8)
        expected[[3, 1]] = value
        assert torch.equal(cache, expected)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("slots", ["%s", "%r"])
@pytest.mark.parametrize("rows, width", [(3, 8), (1, 8), (2, 7), (2, 9)])
def test_sx10_second_write_differs(compiler, slots, rows, width, fuse):
    given = arguments(rows, width)
    with pytest.raises(abi.KernelError, match="SX10"):
        load(compiler, two_writes(slots), fuse).call("main", *given)
    for cache in given[:2]:
        assert not cache.any(), "nothing is written"


@pytest.mark.parametrize("fuse", FUSE)
def test_sx10_elementwise_operands_differ(compiler, fuse):
    text = f"""
func.func @main(%c: {CACHE}, %v: tensor<?x?xf32>, %w: tensor<?x?xf32>, %s: tensor<?xi64>) -> tensor<?x?xf32> {{
  %x = arith.addf %v, %w : tensor<?x?xf32>
  %0 = {write("%x", "%c")}
  return %0 : tensor<?x?xf32>
}}
"""
    cache, slots = torch.zeros(6, 8), torch.tensor([3, 1])
    library = load(compiler, text, fuse)
    with pytest.raises(abi.KernelError, match="SX10"):
        library.call("main", cache, torch.ones(2, 8), torch.ones(1, 8), slots)
    assert not cache.any()


@pytest.mark.parametrize("fuse", FUSE)
def test_values_read_before_the_cache_changes(compiler, fuse):
    """The second write's values come from the first one's cache, as it was."""
    text = f"""
func.func @main(%c: {CACHE}, %d: {CACHE}, %v: tensor<?x?xf32>, %s: tensor<?xi64>, %r: tensor<?xi64>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {{
  %x = arith.addf %c, %c : tensor<?x?xf32>
  %0 = {write("%v", "%c")}
  %1 = {write("%x", "%d", "%r")}
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}}
"""
    cache, other = torch.arange(16.0).reshape(2, 8), torch.zeros(4, 8)
    expected = cache * 2
    order = torch.tensor([1, 0])
    values = torch.full((2, 8), -1.0)
    load(compiler, text, fuse).call(
        "main", cache, other, values, torch.tensor([0, 1]), order
    )
    assert torch.equal(other[order], expected)
    assert torch.equal(cache, values)


@pytest.mark.parametrize("fuse", FUSE)
def test_neighbour_reads_what_is_written(compiler, fuse):
    """SM3: a slice of one cache goes to another, then rows replace it."""
    text = f"""
func.func @main(%c: {CACHE}, %d: {CACHE}, %v: tensor<?x?xf32>, %s: tensor<?xi64>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {{
  %slice = tensor.extract_slice %c[0, 0] [2, 8] [1, 1] : tensor<?x?xf32> to tensor<2x8xf32>
  %x = tensor.cast %slice : tensor<2x8xf32> to tensor<?x?xf32>
  %0 = {write("%x", "%d")}
  %1 = {write("%v", "%c")}
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}}
"""
    cache, other = torch.arange(16.0).reshape(2, 8), torch.zeros(4, 8)
    before, values = cache.clone(), torch.full((2, 8), -1.0)
    slots = torch.tensor([1, 0])
    load(compiler, text, fuse).call("main", cache, other, values, slots)
    assert torch.equal(other[slots], before)
    assert torch.equal(cache, values)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("slots", [[0, 1], [1, 1]])
def test_writes_of_one_cache_stay_in_order(compiler, slots, fuse):
    text = f"""
func.func @main(%c: {CACHE}, %v: tensor<?x?xf32>, %w: tensor<?x?xf32>, %s: tensor<?xi64>) -> tensor<?x?xf32> {{
  %0 = {write("%v", "%c")}
  %1 = {write("%w", "%0")}
  return %1 : tensor<?x?xf32>
}}
"""
    cache = torch.zeros(3, 8)
    load(compiler, text, fuse).call(
        "main", cache, torch.ones(2, 8), torch.full((2, 8), 2.0), torch.tensor(slots)
    )
    expected = torch.zeros(3, 8)
    expected[slots] = 2.0
    assert torch.equal(cache, expected)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("taken", [False, True])
def test_conditional_write(compiler, taken, fuse):
    text = f"""
func.func @main(%c: {CACHE}, %v: tensor<?x?xf32>, %s: tensor<?xi64>, %n: tensor<?xi8>) -> tensor<?x?xf32> {{
  %c0 = arith.constant 0 : index
  %size = tensor.dim %n, %c0 : tensor<?xi8>
  %taken = arith.cmpi ne, %size, %c0 : index
  %r = scf.if %taken -> tensor<?x?xf32> {{
    %0 = {write("%v", "%c")}
    scf.yield %0 : tensor<?x?xf32>
  }} else {{
    scf.yield %c : tensor<?x?xf32>
  }}
  return %r : tensor<?x?xf32>
}}
"""
    cache, count = torch.zeros(3, 8), torch.zeros(int(taken), dtype=torch.int8)
    load(compiler, text, fuse).call(
        "main", cache, torch.ones(2, 8), torch.tensor([2, 0]), count
    )
    assert torch.equal(cache[[0, 2]], torch.full((2, 8), float(taken)))
    assert not cache[1].any()
