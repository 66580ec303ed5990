# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is computed in front of the write cannot be part of it."""

import ml_dtypes
import numpy as np

from .case import CACHE, PAGE, SLOTS, Case, cache, put, rows

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

CASES = [MIXED_DIVISION, INDEX_OVERFLOW, CAST_MODE, SCALE_RANK, ELEMENT_SCATTER]
