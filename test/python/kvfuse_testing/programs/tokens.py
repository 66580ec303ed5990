# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tokens of a write: index vectors, what is computed from them, and masks."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

from .layouts import OFFSET, PAGE, PAGE_SIZES, SELECTOR, SLOT, Layout
from .model import Compare, Compute, Dim, Expr, Op, Type
from .spellings import Pair, SpellingBuilder


@dataclasses.dataclass
class Tokens:
    """Slots of tokens, or the pages and offsets of them."""

    #: The shape of the grid: (T,), or (A, B).
    dims: tuple[Dim, ...]
    #: i32 or i64 slots, or a pair's pages.
    first: str
    #: A pair's offsets in pages of size `page`.
    offset: str | None = None
    page: int = 0
    #: Shared results: what was computed -> its name.
    shared: dict[tuple, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Style:
    """What the writes of a layer have in common."""

    tokens: Tokens
    mode: str
    share: bool
    negative: str
    out_of_bounds: str
    mask: str | None
    where: tuple[str, int] | None


class TokenBuilder(SpellingBuilder):
    """Adds index vectors and masks to a program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.all_tokens = [
            self.tokens() for _ in range(self.rng.choice([1, 1, 1, 2, 3]))
        ]

    @contextlib.contextmanager
    def region(self) -> Iterator[list[Op]]:
        """Index values that are computed inside cannot be used afterwards."""
        shared = [dict(tokens.shared) for tokens in self.all_tokens]
        with super().region() as ops:
            yield ops
        for tokens, known in zip(self.all_tokens, shared, strict=True):
            tokens.shared = known

    def tokens(self) -> Tokens:
        """New index vectors, as arguments."""
        number = len(self.program.types)
        dims: tuple[Dim, ...] = (5 if self.chance(0.1) else f"T{number}",)
        if self.uses("two-dimensional"):
            dims = (*dims, self.rng.choice([1, 2, 3]))
        vector = Type.plain(self.rng.choice(["i32", "i64"]), dims)
        if self.chance(0.75):
            return Tokens(dims, self.argument("slots", vector))
        page = self.rng.choice(PAGE_SIZES)
        pages = self.argument("pages", vector)
        offsets = self.argument("offsets", vector.of(self.rng.choice(["i32", "i64"])))
        self.program.page_sizes |= {pages: page, offsets: page}
        return Tokens(dims, pages, offsets, page)

    def once(
        self, tokens: Tokens, key: tuple, share: bool, make: Callable[[], str]
    ) -> str:
        """What `make` makes, or what it made before if that may be shared."""
        if not share:
            return make()
        if key not in tokens.shared:
            tokens.shared[key] = make()
        return tokens.shared[key]

    def wide(self, name: str, tokens: Tokens, share: bool) -> str:
        """`name` as i64."""
        return self.once(
            tokens, ("wide", name), share, lambda: self.resize(name, "i64")
        )

    def page_and_offset(self, style: Style, page: int) -> Pair:
        """Page and offset of slots, computed by the chain."""
        tokens = style.tokens
        keys = ("page", page), ("offset", page)
        if not style.share or keys[0] not in tokens.shared:
            slots = self.wide(tokens.first, tokens, style.share)
            pair = self.spell(slots, page)
            if not style.share:
                return pair
            tokens.shared |= dict(zip(keys, pair, strict=True))
        return tokens.shared[keys[0]], tokens.shared[keys[1]]

    def slot_of(self, pages: str, offsets: str, page: int) -> Expr:
        """page * P + offset: computed before the write, or in its map."""
        if self.uses("recomposed"):
            return ("index", self.row_id(pages, offsets, page))
        product = ("*", ("index", pages), ("number", page))
        return ("+", product, ("index", offsets))

    def places(self, style: Style, layout: Layout) -> dict[Expr, Expr]:
        """PAGE, OFFSET, SLOT and SELECTOR over index vectors, by name."""
        tokens, page = style.tokens, layout.page
        selector: Expr = ("number", self.rng.randrange(2))
        if SELECTOR in layout.coordinates and self.chance(0.5):
            like = self.wide(tokens.first, tokens, style.share)
            selector = ("index", self.splat(selector[1], like))
        slot: Expr = ("index", tokens.first)
        size: Expr = ("number", page)
        made: dict[Expr, Expr] = {SELECTOR: selector}
        if not tokens.offset and style.mode == "inline":
            pages, offsets = ("floordiv", slot, size), ("mod", slot, size)
            flat: Expr = ("+", ("*", pages, size), offsets)
            return made | {PAGE: pages, OFFSET: offsets, SLOT: flat}
        if not tokens.offset and style.mode == "flat" and not layout.paged:
            wide = self.wide(tokens.first, tokens, style.share)
            return made | {SLOT: ("index", wide)}
        if tokens.offset:
            page, pair = tokens.page, (tokens.first, tokens.offset)
        else:
            pair = self.page_and_offset(style, page)
        if not layout.paged:
            made[SLOT] = self.slot_of(*pair, page)
        return made | {PAGE: ("index", pair[0]), OFFSET: ("index", pair[1])}

    def comparison(self, tokens: Tokens) -> str:
        """A mask from comparing slots with a constant."""
        slots = tokens.first
        if self.chance(0.8):
            slots = self.wide(slots, tokens, True)
        predicate, number = self.rng.choice(
            [("sge", 0), ("ne", -1), ("slt", 30), ("ne", 7), ("sgt", -5), ("eq", 3)]
        )
        bound = self.splat(number, slots)
        result = self.add("mask", self.program.types[slots].of("i1"))
        self.ops.append(Compare(result, predicate, slots, bound))
        return result

    def mask(self, tokens: Tokens) -> str | None:
        """A mask, or none."""
        kind = self.rng.choice(["none"] * 4 + ["argument", "comparison", "both"])
        if kind == "none":
            return None
        if kind == "comparison":
            return self.comparison(tokens)
        vector = Type.plain("i1", tokens.dims)
        # An argument is known everywhere, also if a region made it.
        given = [
            name
            for name in self.program.arguments
            if self.program.types[name] == vector
        ]
        mask = given[0] if given else self.argument("mask", vector)
        if kind == "argument":
            return mask
        result = self.add("mask", vector)
        name = self.rng.choice(["arith.andi", "arith.ori"])
        inputs = (mask, self.comparison(tokens))
        self.ops.append(Compute(result, name, inputs))
        return result

    def style(self) -> Style:
        """The style of a layer."""
        tokens = self.rng.choice(self.all_tokens)
        where = None
        if self.chance(0.12):
            where = self.rng.choice([("sge", 0), ("ne", 5), ("slt", 33)])
        return Style(
            tokens,
            self.rng.choice(["chain", "chain", "inline", "flat"]),
            self.chance(0.5),
            self.rng.choice(["wrap", "wrap", "wrap", "error", "undefined"]),
            self.rng.choice(["trap", "trap", "skip", "skip", "undefined"]),
            self.mask(tokens),
            where,
        )
