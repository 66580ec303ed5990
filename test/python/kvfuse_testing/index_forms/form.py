# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A form of index tensors, and what its programs are put together from."""

import dataclasses
from collections.abc import Callable

import numpy as np

PAGES, PAGE, HEADS, HEAD_DIM = 5, 4, 3, 8


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
