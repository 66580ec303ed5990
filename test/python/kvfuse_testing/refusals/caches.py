# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes that cannot share a kernel, or read what they write."""

import numpy as np

from .case import CACHE, HEAD_DIM, HEADS, PAGE, SLOTS, Case, cache, put, rows


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

CASES = [DIFFERENT_INDICES, DEST_ALIAS, ALIAS_VALUE, ORDER]
