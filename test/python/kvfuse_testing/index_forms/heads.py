# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forms with an index for each head, or none where programs might have one."""

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
