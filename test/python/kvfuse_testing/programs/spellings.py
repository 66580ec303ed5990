# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How programs spell the page and the offset of a slot."""

from collections.abc import Callable

from .builder import Builder
from .model import Resize

#: Page and offset, by name.
Pair = tuple[str, str]
#: No cache has as many slots.
MANY = 50


class SpellingBuilder(Builder):
    """Adds index arithmetic to a program."""

    def resize(self, value: str, dtype: str) -> str:
        """Index values as i32 or i64."""
        made = self.program.types[value]
        if made.dtype == dtype:
            return value
        result = self.add("wide" if dtype == "i64" else "narrow", made.of(dtype))
        self.ops.append(Resize(result, value))
        return result

    def arith(self, name: str, left: str, right: str | int) -> str:
        """An operation of the arith dialect on index values."""
        if isinstance(right, int):
            right = self.splat(right, left)
        return self.compute(f"arith.{name}", left, right)

    def applied(self, slots: str, page: int) -> Pair:
        """s floordiv P, and s mod P or s - page * P, as kv.apply."""
        slot, size = ("dim", 0), ("number", page)
        pages = self.apply(("floordiv", slot, size), slots)
        if self.chance(0.3):
            product = ("*", ("dim", 1), ("number", -page))
            return pages, self.apply(("+", slot, product), slots, pages)
        return pages, self.apply(("mod", slot, size), slots)

    def floored(self, slots: str, page: int) -> Pair:
        """floordivsi, and the rest."""
        pages = self.arith("floordivsi", slots, page)
        return pages, self.arith("subi", slots, self.arith("muli", pages, page))

    def shifted(self, slots: str, page: int) -> Pair:
        """A shift and a mask, for pages whose size is a power of two."""
        pages = self.arith("shrsi", slots, page.bit_length() - 1)
        return pages, self.arith("andi", slots, page - 1)

    def truncated(self, slots: str, page: int) -> Pair:
        """divsi and remsi."""
        return self.arith("divsi", slots, page), self.arith("remsi", slots, page)

    def clamped(self, slots: str, page: int) -> Pair:
        """divsi and remsi of slots that are not negative."""
        return self.truncated(self.arith("maxsi", slots, 0), page)

    def narrowed(self, slots: str, page: int) -> Pair:
        """i32 arithmetic on slots in a range, without widening the result."""
        inside = self.arith("minsi", self.arith("maxsi", slots, 0), MANY)
        return self.truncated(self.resize(inside, "i32"), page)

    def recomposed(self, slots: str, page: int) -> Pair:
        """Page and offset of page * P + offset."""
        pages, offsets = self.applied(slots, page)
        return self.applied(self.row_id(pages, offsets, page), page)

    def row_id(self, pages: str, offsets: str, page: int) -> str:
        """page * P + offset."""
        dtypes = {self.program.types[name].dtype for name in (pages, offsets)}
        if dtypes != {"i32"} or not self.uses("index-overflow"):
            pages, offsets = (self.resize(name, "i64") for name in (pages, offsets))
        return self.arith("addi", self.arith("muli", pages, page), offsets)

    def spell(self, slots: str, page: int) -> Pair:
        """Page and offset of i64 slots."""
        if self.uses("mixed-division"):
            return self.truncated(slots, page)
        if not self.uses("spelling"):
            return self.applied(slots, page)
        ways: list[Callable[[str, int], Pair]] = [
            self.floored,
            self.clamped,
            self.narrowed,
            self.recomposed,
        ]
        if page.bit_count() == 1:
            ways.append(self.shifted)
        return self.rng.choice(ways)(slots, page)
