# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forms that compute with slots: addresses, row ids, rings and selections."""

import numpy as np

from .form import (
    HEAD_DIM,
    HEAD_IOTA,
    HEADS,
    PAGE,
    PAGES,
    PAIR,
    Form,
    along,
    iota,
    repeat,
)

FORMS = {
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
}
