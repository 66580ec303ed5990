# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tokens of a write: index vectors, what is computed from them, and masks."""

import dataclasses
from collections.abc import Callable

from .builder import Builder
from .layouts import OFFSET, PAGE, PAGE_SIZES, SELECTOR, SLOT, Layout
from .model import Compare, Compute, Dim, Expr, Extend, Type


@dataclasses.dataclass
class Tokens:
    """Slots of T tokens, or the pages and offsets of them."""

    #: Dimension T.
    dim: Dim
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


class TokenBuilder(Builder):
    """Adds index vectors and masks to a program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.all_tokens = [
            self.tokens() for _ in range(self.rng.choice([1, 1, 1, 2, 3]))
        ]

    def tokens(self) -> Tokens:
        """New index vectors, as arguments."""
        number = len(self.program.types)
        dim: Dim = 5 if self.chance(0.1) else f"T{number}"
        dtype = self.rng.choice(["i32", "i64"])
        vector = Type(dtype, (dim,), (False,))
        if self.chance(0.75):
            return Tokens(dim, self.argument("slots", vector))
        page = self.rng.choice(PAGE_SIZES)
        pages = self.argument("pages", vector)
        offsets = self.argument("offsets", vector.of(self.rng.choice(["i32", "i64"])))
        self.program.page_sizes |= {pages: page, offsets: page}
        return Tokens(dim, pages, offsets, page)

    def wide(self, name: str, tokens: Tokens, share: bool) -> str:
        """`name` as i64."""
        vector = self.program.types[name]
        if vector.dtype == "i64":
            return name

        def make() -> str:
            result = self.add("wide", vector.of("i64"))
            self.program.ops.append(Extend(result, name))
            return result

        return self.once(tokens, ("wide", name), share, make)

    def once(
        self, tokens: Tokens, key: tuple, share: bool, make: Callable[[], str]
    ) -> str:
        """What `make` makes, or what it made before if that may be shared."""
        if not share:
            return make()
        if key not in tokens.shared:
            tokens.shared[key] = make()
        return tokens.shared[key]

    def page_and_offset(self, style: Style, page: int) -> tuple[str, str]:
        """Page and offset of slots, computed by the chain."""
        tokens, share = style.tokens, style.share
        wide = self.wide(tokens.first, tokens, share)
        slot, size = ("dim", 0), ("number", page)
        pages = self.once(
            tokens,
            ("page", page),
            share,
            lambda: self.apply(("floordiv", slot, size), wide),
        )

        def make_offset() -> str:
            if self.chance(0.3):
                product = ("*", ("dim", 1), ("number", -page))
                return self.apply(("+", slot, product), wide, pages)
            return self.apply(("mod", slot, size), wide)

        return pages, self.once(tokens, ("offset", page), share, make_offset)

    def places(self, style: Style, layout: Layout) -> dict[Expr, Expr]:
        """PAGE, OFFSET, SLOT and SELECTOR over index vectors, by name."""
        tokens, page = style.tokens, layout.page
        size = ("number", page)
        selector: Expr = ("number", self.rng.randrange(2))
        if SELECTOR in layout.coordinates and self.chance(0.5):
            like = self.wide(tokens.first, tokens, style.share)
            selector = ("index", self.splat(selector[1], like))
        slot: Expr = ("index", tokens.first)
        if tokens.offset:
            pages, offsets = slot, ("index", tokens.offset)
            slot = ("+", ("*", pages, ("number", tokens.page)), offsets)
        elif style.mode == "inline":
            pages, offsets = ("floordiv", slot, size), ("mod", slot, size)
        elif style.mode == "flat" and not layout.paged:
            pages = offsets = ("number", 0)
            slot = ("index", self.wide(tokens.first, tokens, style.share))
        else:
            pages, offsets = (
                ("index", name) for name in self.page_and_offset(style, page)
            )
            slot = ("+", ("*", pages, size), offsets)
        return {PAGE: pages, OFFSET: offsets, SLOT: slot, SELECTOR: selector}

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
        self.program.ops.append(Compare(result, predicate, slots, bound))
        return result

    def mask(self, tokens: Tokens) -> str | None:
        """A mask, or none."""
        kind = self.rng.choice(["none"] * 4 + ["argument", "comparison", "both"])
        if kind == "none":
            return None
        if kind == "comparison":
            return self.comparison(tokens)
        vector = Type("i1", (tokens.dim,), (False,))
        given = self.once(
            tokens, ("mask",), True, lambda: self.argument("mask", vector)
        )
        if kind == "argument":
            return given
        result = self.add("mask", vector)
        name = self.rng.choice(["arith.andi", "arith.ori"])
        inputs = (given, self.comparison(tokens))
        self.program.ops.append(Compute(result, name, inputs))
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
