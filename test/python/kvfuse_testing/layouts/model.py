# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cells of the matrix, and the signatures of the functions that run them."""

import dataclasses
import itertools

from .. import casts


@dataclasses.dataclass(frozen=True)
class Layout:
    """How the caches of a cell, and the rows that go there, lie in memory.

    `map` is the order of the cache's dimensions: hnd [B, H, P, D], nhd
    [B, P, H, D] or flat [S, H, D]. `members` are the writes: k and v have heads, i
    (index-K) has none. `base`, if any, is the one argument whose slices the program
    takes; otherwise caches are arguments. `shifted` names what an element offset
    moves: caches or rows. With `odd_units` the stride of a dimension of size 1 is odd,
    as it is when a framework leaves it from another view.
    """

    map: str
    base: str = ""
    members: str = "kv"
    wide_v: bool = False
    rows: str = "dense"
    shifted: str = "caches"
    slots: str = "i64"
    out_of_bounds: str = "skip"
    odd_units: bool = False


LAYOUTS = {
    "hnd": Layout("hnd", members="kvi", rows="qkv", odd_units=True),
    "nhd": Layout("nhd", wide_v=True, shifted="rows", out_of_bounds="trap"),
    "flat": Layout("flat", slots="i32", rows="qkv"),
    # K and V of a page side by side, [B, 2, H, P, D].
    "pool": Layout("hnd", base="pool", odd_units=True),
    "pool-arguments": Layout("hnd"),
    # K and V in one row, [B, P, H, D + Dv].
    "packed": Layout("nhd", base="packed", wide_v=True, shifted="rows"),
    "packed-arguments": Layout("nhd", wide_v=True, out_of_bounds="trap"),
    # Rows and pages with padding behind them.
    "padded": Layout("hnd", rows="padded", shifted="rows"),
    # All layers in one buffer, [L, 2, B, H, P, D], the layer's number an argument.
    "layers": Layout("hnd", base="layers", rows="qkv"),
    # Heads outermost in memory.
    "permuted": Layout("hnd", odd_units=True),
}
HEAD_DIMS = (8, 46, 64, 80, 128, 192)
#: V's head dimension where it is not K's.
WIDE_V = {8: 16, 46: 64, 64: 46, 80: 48, 128: 192, 192: 128}
PAGES = (1, 3, 16, 48, 64)
HEADS = (1, 3, 8)
#: Element types of rows and cache.
TYPES = (("bf16", "bf16"), ("bf16", "e4m3fn"), ("f32", "bf16"), ("u8", "u8"))
#: By how many elements the first one misses a good alignment.
OFFSETS = (0, 1)
AXES = (tuple(LAYOUTS), TYPES, HEAD_DIMS, PAGES, HEADS, OFFSETS)

MLIR_TYPES = casts.MLIR_TYPES | {"u8": "i8"}


@dataclasses.dataclass(frozen=True)
class Signature:
    """What makes two cells share a function. A flat cache has no page size."""

    map: str
    base: str
    members: str
    values: str
    cache: str
    slots: str
    out_of_bounds: str
    head_dims: tuple[int, ...]
    page: int | None

    @property
    def name(self) -> str:
        """A function name."""
        dims = "_".join(map(str, self.head_dims))
        kind = "_".join(filter(None, (self.map, self.base, self.members)))
        policy = f"{self.slots}_{self.out_of_bounds}"
        page = "" if self.page is None else f"_page{self.page}"
        return f"{kind}_{self.values}_{self.cache}_{dims}{page}_{policy}"


@dataclasses.dataclass(frozen=True)
class Cell:
    """One cell of the matrix."""

    layout: str
    types: tuple[str, str]
    head_dim: int
    page: int
    heads: int
    offset: int

    @property
    def name(self) -> str:
        """A name with all that differs between cells."""
        values, cache = self.types
        return (
            f"{self.layout}-{cache}-from-{values}-{self.heads}x{self.head_dim}"
            f"-page{self.page}-offset{self.offset}"
        )

    @property
    def facts(self) -> Layout:
        """What its layout means."""
        return LAYOUTS[self.layout]

    @property
    def num_pages(self) -> int:
        """B; there are at least nine slots."""
        return max(3, -(-9 // self.page))

    @property
    def num_slots(self) -> int:
        """S."""
        return self.num_pages * self.page

    def member_heads(self, member: str) -> int | None:
        """H; None if there is no such dimension."""
        return None if member == "i" else self.heads

    def member_dim(self, member: str) -> int:
        """D."""
        wide = member == "v" and self.facts.wide_v
        return WIDE_V[self.head_dim] if wide else self.head_dim

    @property
    def signature(self) -> Signature:
        """The function that runs the cell."""
        facts = self.facts
        return Signature(
            facts.map,
            facts.base,
            facts.members,
            *self.types,
            facts.slots,
            facts.out_of_bounds,
            tuple(map(self.member_dim, facts.members)),
            None if facts.map == "flat" else self.page,
        )


def all_cells() -> list[Cell]:
    """The whole matrix."""
    return [Cell(*point) for point in itertools.product(*AXES)]
