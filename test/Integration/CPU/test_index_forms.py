# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Index tensors in the forms that programs have, fused and as a chain.

NumPy says, for each element of the values, at which coordinates of the cache it
belongs; policies are applied to those.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
import torch

from kvfuse_testing import abi

PAGES, PAGE, HEADS, HEAD_DIM = 5, 4, 3, 8

#: The slots of each call; some are negative, and some of no page.
SLOTS = {
    "none": [],
    "one": [7],
    "edges": [0, PAGE - 1, PAGE, PAGES * PAGE - 1, 9],
    "negative": [2, -1, -PAGES * PAGE, 5],
    "beyond": [3, PAGES * PAGE, 6],
    "below": [3, -PAGES * PAGE - 1, 6],
    "far": [2**40 + 17, 1],
}


@dataclasses.dataclass(frozen=True)
class Form:
    """A function @main of the cache, the rows and the slots."""

    body: str
    cache: tuple[int, ...]
    #: Sizes of the rows of T tokens.
    rows: Callable[[int], tuple[int, ...]]
    #: The coordinates of each element of the rows, for the slots.
    coords: Callable[[np.ndarray], tuple[np.ndarray, ...]]
    #: Types; ? is the number of pages, or of tokens.
    cache_type: str
    rows_type: str
    #: The tokens that the program masks out.
    active: Callable[[np.ndarray], np.ndarray] = lambda s: np.True_
    #: A number of tokens that the types fix.
    tokens: int | None = None

    def module(self, policy: str) -> str:
        """The module; `policy` is for coordinates out of bounds."""
        size = "?" if self.tokens is None else self.tokens
        body = self.body.replace("$POLICY", f"negative(wrap) out_of_bounds({policy})")
        return f"""
func.func @main(%cache: tensor<{self.cache_type}> {{bufferization.writable = true}},
                %rows: tensor<{self.rows_type}>, %s: tensor<{size}xi64>)
    -> tensor<{self.cache_type}> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<{size}xi64>
  {body.strip()}
  return %0 : tensor<{self.cache_type}>
}}
"""


def along(values: np.ndarray, dim: int, rank: int) -> np.ndarray:
    """`values` as dimension `dim` of `rank`."""
    return values.reshape([-1 if i == dim else 1 for i in range(rank)])


def iota(size: int, dim: int, rank: int) -> np.ndarray:
    return along(np.arange(size), dim, rank)


PAIR = """
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<?xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<?xi64>
"""

#: A generated iota over the heads.
HEAD_IOTA = """
  %h = tensor.generate {
  ^bb0(%i: index):
    %x = arith.index_cast %i : index to i64
    tensor.yield %x : i64
  } : tensor<3xi64>
"""


#: The types of the vectors that are repeated.
VECTORS = {"h": "3xi64", "b": "8xi64"}


def repeat(name: str, vector: str, shape: str, missing: int) -> str:
    """%name: %vector, repeated along dimension `missing` of %e."""
    source = VECTORS.get(vector, "?xi64")
    return (
        f"  %{name} = linalg.broadcast ins(%{vector} : tensor<{source}>) "
        f"outs(%e : tensor<{shape}>) dimensions = [{missing}]\n"
    )


FORMS = {
    # One index tensor for each dimension, a constant that selects V among them.
    "head_iota": Form(
        PAIR
        + HEAD_IOTA
        + "  %e = tensor.empty(%n) : tensor<?x3xi64>\n"
        + repeat("pg", "p", "?x3xi64", 1)
        + repeat("of", "o", "?x3xi64", 1)
        + repeat("hd", "h", "?x3xi64", 0)
        + """
  %k1 = arith.constant 1 : i64
  %j = tensor.splat %k1[%n] : tensor<?x3xi64>
  %0 = kv.write at(%j, %pg, %hd, %of : tensor<?x3xi64>, tensor<?x3xi64>,
                   tensor<?x3xi64>, tensor<?x3xi64>) $POLICY
    put %rows : tensor<?x3x8xf32> into %cache : tensor<2x?x3x4x8xf32>
      map(affine_map<(t, k, j, p, h, o, d) -> (j, p, h, o, d)>)
""",
        cache=(2, PAGES, HEADS, PAGE, HEAD_DIM),
        rows=lambda t: (t, HEADS, HEAD_DIM),
        coords=lambda s: (
            np.int64(1),
            along(s // PAGE, 0, 3),
            iota(HEADS, 1, 3),
            along(s % PAGE, 0, 3),
            iota(HEAD_DIM, 2, 3),
        ),
        cache_type="2x?x3x4x8xf32",
        rows_type="?x3x8xf32",
    ),
    # Pages repeated for each head, in a vector of heads times tokens.
    "repeat_grid": Form(
        PAIR
        + HEAD_IOTA
        + "  %e = tensor.empty(%n) : tensor<3x?xi64>\n"
        + repeat("pg2", "p", "3x?xi64", 0)
        + repeat("of2", "o", "3x?xi64", 0)
        + repeat("hd2", "h", "3x?xi64", 1)
        + """
  %pg = tensor.collapse_shape %pg2 [[0, 1]] : tensor<3x?xi64> into tensor<?xi64>
  %of = tensor.collapse_shape %of2 [[0, 1]] : tensor<3x?xi64> into tensor<?xi64>
  %hd = tensor.collapse_shape %hd2 [[0, 1]] : tensor<3x?xi64> into tensor<?xi64>
  %flat = tensor.collapse_shape %rows [[0, 1, 2], [3]]
      : tensor<1x3x?x8xf32> into tensor<?x8xf32>
  %0 = kv.write at(%pg, %hd, %of : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
      $POLICY
    put %flat : tensor<?x8xf32> into %cache : tensor<?x3x4x8xf32>
      map(affine_map<(t, p, h, o, d) -> (p, h, o, d)>)
""",
        cache=(PAGES, HEADS, PAGE, HEAD_DIM),
        rows=lambda t: (1, HEADS, t, HEAD_DIM),
        coords=lambda s: (
            along(s // PAGE, 2, 4),
            iota(HEADS, 1, 4),
            along(s % PAGE, 2, 4),
            iota(HEAD_DIM, 3, 4),
        ),
        cache_type="?x3x4x8xf32",
        rows_type="1x3x?x8xf32",
    ),
    # The address of every element of a page of 4 * 12, in one flat vector.
    "addresses": Form(
        PAIR
        + """
  %a = kv.apply affine_map<(p, o) -> (p * 48 + o * 8 + 3)>(%p, %o) : tensor<?xi64>
  %b = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %e = tensor.empty(%n) : tensor<?x8xi64>
"""
        + repeat("a2", "a", "?x8xi64", 1)
        + repeat("b2", "b", "?x8xi64", 0)
        + """
  %sum = arith.addi %a2, %b2 : tensor<?x8xi64>
  %address = tensor.collapse_shape %sum [[0, 1]] : tensor<?x8xi64> into tensor<?xi64>
  %flat = tensor.collapse_shape %rows [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
  %0 = kv.write at(%address : tensor<?xi64>) $POLICY
    put %flat : tensor<?xf32> into %cache : tensor<?x48xf32>
      map(affine_map<(t, a) -> (a floordiv 48, a mod 48)>)
""",
        cache=(PAGES, 48),
        rows=lambda t: (t, 8),
        coords=lambda s: (
            along(s // PAGE, 0, 2),
            along(s % PAGE, 0, 2) * 8 + 3 + iota(8, 1, 2),
        ),
        cache_type="?x48xf32",
        rows_type="?x8xf32",
    ),
    # The same, unravelled over dimensions that the rows straddle.
    "unravelled": Form(
        PAIR
        + """
  %a = kv.apply affine_map<(p, o) -> (p * 48 + o * 8)>(%p, %o) : tensor<?xi64>
  %b = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %e = tensor.empty(%n) : tensor<?x8xi64>
"""
        + repeat("a2", "a", "?x8xi64", 1)
        + repeat("b2", "b", "?x8xi64", 0)
        + """
  %f = arith.addi %a2, %b2 : tensor<?x8xi64>
  %i2 = kv.apply affine_map<(f) -> (f mod 12)>(%f) : tensor<?x8xi64>
  %f2 = kv.apply affine_map<(f) -> (f floordiv 12)>(%f) : tensor<?x8xi64>
  %i1 = kv.apply affine_map<(f) -> (f mod 4)>(%f2) : tensor<?x8xi64>
  %i0 = kv.apply affine_map<(f) -> (f floordiv 4)>(%f2) : tensor<?x8xi64>
  %0 = kv.write at(%i0, %i1, %i2 : tensor<?x8xi64>, tensor<?x8xi64>, tensor<?x8xi64>)
      $POLICY
    put %rows : tensor<?x8xf32> into %cache : tensor<?x4x12xf32>
      map(affine_map<(t, r, a, b, c) -> (a, b, c)>)
""",
        cache=(PAGES, 4, 12),
        rows=lambda t: (t, 8),
        coords=lambda s: (
            along(s // PAGE, 0, 2),
            (along(s % PAGE, 0, 2) * 8 + iota(8, 1, 2)) // 12,
            (along(s % PAGE, 0, 2) * 8 + iota(8, 1, 2)) % 12,
        ),
        cache_type="?x4x12xf32",
        rows_type="?x8xf32",
    ),
    # A row id over page, part, head and offset.
    "mixed_radix": Form(
        PAIR
        + HEAD_IOTA
        + "  %e = tensor.empty(%n) : tensor<?x3xi64>\n"
        + repeat("pg", "p", "?x3xi64", 1)
        + repeat("of", "o", "?x3xi64", 1)
        + repeat("hd", "h", "?x3xi64", 0)
        + """
  %id = kv.apply affine_map<(p, h, o) -> (((p * 2 + 1) * 3 + h) * 4 + o)>(%pg, %hd, %of)
      : tensor<?x3xi64>
  %0 = kv.write at(%id : tensor<?x3xi64>) $POLICY
    put %rows : tensor<?x3x8xf32> into %cache : tensor<?x2x3x4x8xf32>
      map(affine_map<(t, k, i, d) -> (i floordiv 24, (i floordiv 12) mod 2,
                                      (i floordiv 4) mod 3, i mod 4, d)>)
""",
        cache=(PAGES, 2, HEADS, PAGE, HEAD_DIM),
        rows=lambda t: (t, HEADS, HEAD_DIM),
        coords=lambda s: (
            along(s // PAGE, 0, 3),
            np.int64(1),
            iota(HEADS, 1, 3),
            along(s % PAGE, 0, 3),
            iota(HEAD_DIM, 2, 3),
        ),
        cache_type="?x2x3x4x8xf32",
        rows_type="?x3x8xf32",
    ),
    # Runs of a dynamic number of rows, from each slot on, in a ring.
    "ring": Form(
        """
  %c1 = arith.constant 1 : index
  %q = tensor.dim %rows, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%n, %q) : tensor<?x?xi64>
  %i = tensor.generate %q {
  ^bb0(%k: index):
    %x = arith.index_cast %k : index to i64
    tensor.yield %x : i64
  } : tensor<?xi64>
  %s2 = linalg.broadcast ins(%s : tensor<?xi64>) outs(%e : tensor<?x?xi64>) dimensions = [1]
  %i2 = linalg.broadcast ins(%i : tensor<?xi64>) outs(%e : tensor<?x?xi64>) dimensions = [0]
  %sum = arith.addi %s2, %i2 : tensor<?x?xi64>
  %at = kv.apply affine_map<(s) -> (s mod 20)>(%sum) : tensor<?x?xi64>
  %0 = kv.write at(%at : tensor<?x?xi64>) $POLICY
    put %rows : tensor<?x?x8xf32> into %cache : tensor<?x8xf32>
      map(affine_map<(t, q, s, d) -> (s, d)>)
""",
        cache=(PAGES * PAGE, HEAD_DIM),
        rows=lambda t: (t, 2, HEAD_DIM),
        coords=lambda s: (
            (along(s, 0, 3) + iota(2, 1, 3)) % (PAGES * PAGE),
            iota(HEAD_DIM, 2, 3),
        ),
        cache_type="?x8xf32",
        rows_type="?x?x8xf32",
    ),
    # More heads in the rows than the cache has: each is tested (SX10).
    "too_many_heads": Form(
        HEAD_IOTA
        + "  %e = tensor.empty(%n) : tensor<?x3xi64>\n"
        + repeat("s2", "s", "?x3xi64", 1)
        + repeat("hd", "h", "?x3xi64", 0)
        + """
  %0 = kv.write at(%s2, %hd : tensor<?x3xi64>, tensor<?x3xi64>) $POLICY
    put %rows : tensor<?x3x8xf32> into %cache : tensor<?x?x8xf32>
      map(affine_map<(t, k, s, h, d) -> (s, h, d)>)
""",
        cache=(PAGES * PAGE, HEADS - 1, HEAD_DIM),
        rows=lambda t: (t, HEADS, HEAD_DIM),
        coords=lambda s: (along(s, 0, 3), iota(HEADS, 1, 3), iota(HEAD_DIM, 2, 3)),
        cache_type="?x?x8xf32",
        rows_type="?x3x8xf32",
    ),
    # A mask of tokens, repeated for the heads; truncated division is fine where
    # it leaves negative slots out.
    "masked_heads": Form(
        HEAD_IOTA
        + """
  %k0 = arith.constant 0 : i64
  %zero = tensor.splat %k0[%n] : tensor<?xi64>
  %k4 = arith.constant 4 : i64
  %four = tensor.splat %k4[%n] : tensor<?xi64>
  %m = arith.cmpi sge, %s, %zero : tensor<?xi64>
  %p = arith.divsi %s, %four : tensor<?xi64>
  %o = arith.remsi %s, %four : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x3xi64>
  %em = tensor.empty(%n) : tensor<?x3xi1>
"""
        + repeat("pg", "p", "?x3xi64", 1)
        + repeat("of", "o", "?x3xi64", 1)
        + repeat("hd", "h", "?x3xi64", 0)
        + """
  %m2 = linalg.broadcast ins(%m : tensor<?xi1>) outs(%em : tensor<?x3xi1>) dimensions = [1]
  %0 = kv.write at(%pg, %hd, %of : tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>)
      mask(%m2 : tensor<?x3xi1>) $POLICY
    put %rows : tensor<?x3x8xf32> into %cache : tensor<?x3x4x8xf32>
      map(affine_map<(t, k, p, h, o, d) -> (p, h, o, d)>)
""",
        cache=(PAGES, HEADS, PAGE, HEAD_DIM),
        rows=lambda t: (t, HEADS, HEAD_DIM),
        coords=lambda s: (
            along(s // PAGE, 0, 3),
            iota(HEADS, 1, 3),
            along(s % PAGE, 0, 3),
            iota(HEAD_DIM, 2, 3),
        ),
        cache_type="?x3x4x8xf32",
        rows_type="?x3x8xf32",
        active=lambda s: along(s >= 0, 0, 3),
    ),
    # A selection sends negative slots to slot 1.
    "selected": Form(
        """
  %k0 = arith.constant 0 : i64
  %zero = tensor.splat %k0[%n] : tensor<?xi64>
  %k1 = arith.constant 1 : i64
  %one = tensor.splat %k1[%n] : tensor<?xi64>
  %k4 = arith.constant 4 : i64
  %four = tensor.splat %k4[%n] : tensor<?xi64>
  %m = arith.cmpi sgt, %zero, %s : tensor<?xi64>
  %x = arith.select %m, %one, %s : tensor<?xi1>, tensor<?xi64>
  %p = arith.divui %x, %four : tensor<?xi64>
  %o = arith.remsi %x, %four : tensor<?xi64>
  %0 = kv.write at(%p, %o : tensor<?xi64>, tensor<?xi64>) $POLICY
    put %rows : tensor<?x8xf32> into %cache : tensor<?x4x8xf32>
      map(affine_map<(t, p, o, d) -> (p, o, d)>)
""",
        cache=(PAGES, PAGE, HEAD_DIM),
        rows=lambda t: (t, HEAD_DIM),
        coords=lambda s: (
            along(np.where(s < 0, 1, s) // PAGE, 0, 2),
            along(np.where(s < 0, 1, s) % PAGE, 0, 2),
            iota(HEAD_DIM, 1, 2),
        ),
        cache_type="?x4x8xf32",
        rows_type="?x8xf32",
    ),
    # Heads side by side in one row.
    "flattened": Form(
        """
  %flat = tensor.collapse_shape %rows [[0], [1, 2]]
      : tensor<?x3x8xf32> into tensor<?x24xf32>
  %0 = kv.write at(%s : tensor<?xi64>) $POLICY
    put %flat : tensor<?x24xf32> into %cache : tensor<?x24xf32>
      map(affine_map<(t, s, d) -> (s, d)>)
""",
        cache=(PAGES * PAGE, HEADS * HEAD_DIM),
        rows=lambda t: (t, HEADS, HEAD_DIM),
        coords=lambda s: (
            along(s, 0, 3),
            iota(HEADS, 1, 3) * HEAD_DIM + iota(HEAD_DIM, 2, 3),
        ),
        cache_type="?x24xf32",
        rows_type="?x3x8xf32",
    ),
    # One token, of which the type knows.
    "one_token": Form(
        """
  %p = kv.apply affine_map<(s) -> (s floordiv 4)>(%s) : tensor<1xi64>
  %o = kv.apply affine_map<(s) -> (s mod 4)>(%s) : tensor<1xi64>
  %h = arith.constant dense<[[0, 1, 2]]> : tensor<1x3xi64>
  %e = tensor.empty() : tensor<1x3xi64>
  %pg = linalg.broadcast ins(%p : tensor<1xi64>) outs(%e : tensor<1x3xi64>) dimensions = [1]
  %of = linalg.broadcast ins(%o : tensor<1xi64>) outs(%e : tensor<1x3xi64>) dimensions = [1]
  %0 = kv.write at(%pg, %h, %of : tensor<1x3xi64>, tensor<1x3xi64>, tensor<1x3xi64>)
      $POLICY
    put %rows : tensor<1x3x8xf32> into %cache : tensor<?x3x4x8xf32>
      map(affine_map<(t, k, p, h, o, d) -> (p, h, o, d)>)
""",
        cache=(PAGES, HEADS, PAGE, HEAD_DIM),
        rows=lambda t: (t, HEADS, HEAD_DIM),
        coords=lambda s: (
            along(s // PAGE, 0, 3),
            iota(HEADS, 1, 3),
            along(s % PAGE, 0, 3),
            iota(HEAD_DIM, 2, 3),
        ),
        cache_type="?x3x4x8xf32",
        rows_type="1x3x8xf32",
        tokens=1,
    ),
}


def write(form: Form, cache: np.ndarray, rows: np.ndarray, slots: np.ndarray):
    """Writes `rows` in bounds; returns whether any were out of bounds."""
    coords = np.broadcast_arrays(*form.coords(slots), form.active(slots), rows)
    *coords, active, rows = coords
    inside = np.array(active, dtype=bool)
    wrapped = []
    for coord, size in zip(coords, cache.shape, strict=True):
        coord = np.where(coord < 0, coord + size, coord)
        inside &= (coord >= 0) & (coord < size)
        wrapped.append(coord)
    cache[tuple(coord[inside] for coord in wrapped)] = rows[inside]
    return bool((active & ~inside).any())


#: Each form with all slots that it takes.
CASES = [
    (name, slots)
    for name, form in FORMS.items()
    for slots, values in SLOTS.items()
    if form.tokens is None or form.tokens == len(values)
]


@pytest.mark.parametrize("policy", ["trap", "skip"])
@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize(("name", "slots"), CASES)
def test_form(compiler, name, slots, fuse, policy):
    """The bytes that NumPy says, or an error."""
    form = FORMS[name]
    options = ("--target=cpu", "--emit=shared", f"--fuse={fuse}")
    library = abi.Library(compiler.compile(form.module(policy), *options))
    slot_values = np.array(SLOTS[slots], dtype=np.int64)
    rows = np.arange(1, np.prod(form.rows(len(slot_values))) + 1, dtype=np.float32)
    rows = rows.reshape(form.rows(len(slot_values)))
    cache = np.full(form.cache, -5, dtype=np.float32)
    expected = cache.copy()
    fails = write(form, expected, rows, slot_values) and policy == "trap"
    arguments = [torch.from_numpy(x) for x in (cache, rows, slot_values)]
    if fails:
        with pytest.raises(abi.KernelError, match="SX5"):
            library.call("main", *arguments)
    else:
        library.call("main", *arguments)
        np.testing.assert_array_equal(cache, expected)


@pytest.mark.parametrize("name", sorted(FORMS.keys() - {"ring", "selected"}))
def test_form_is_one_kernel(compiler, name):
    """What computes the indices is in the kernel: no tensor is made."""
    text = compiler.compile(
        FORMS[name].module("trap"), "--target=sm_90", "--emit=gpu", "--no-versioning"
    ).read_text()
    assert text.count("gpu.launch_func") == 1
    assert "memref.alloc" not in text
