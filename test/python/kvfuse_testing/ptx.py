# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The instructions of PTX kernels, and which can come after which."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: A label, or an instruction with the predicate that it may have.
STATEMENT = re.compile(r"(\$[\w$]+):|(?:@(!?%\w+)\s+)?([a-z][\w.:]*)([^;{}]*);")


class Kernel:
    """An entry of PTX text; instructions go by their numbers.

    names: their names, such as "ld.global.b32".
    """

    def __init__(self, body: str) -> None:
        self.names: list[str] = []
        self._operands: list[str] = []
        self._predicates: list[str | None] = []
        self._labels: dict[str, int] = {}
        # Declarations and comments are no instructions.
        body = re.sub(r"//[^\n]*|^\s*\.[^\n]*", "", body, flags=re.MULTILINE)
        for label, predicate, name, operands in STATEMENT.findall(body):
            if label:
                self._labels[label] = len(self.names)
                continue
            self.names.append(name)
            self._operands.append(operands.strip())
            self._predicates.append(predicate or None)

    def followers(self, number: int) -> list[int]:
        """What may come right after an instruction."""
        name, is_sure = self.names[number], self._predicates[number] is None
        found = [] if is_sure and name in ("ret", "trap", "exit") else [number + 1]
        if name.startswith("bra"):
            found = [] if is_sure else found
            found.append(self._labels[self._operands[number]])
        return found

    def find(self, pattern: str) -> list[int]:
        """The instructions whose whole names match."""
        return [n for n, name in enumerate(self.names) if re.fullmatch(pattern, name)]

    def reach(self, start: int, until: str) -> Iterator[int]:
        """Instructions that may run from `start` on, on ways that end in front of
        those whose names match `until`."""
        seen, left = set(), [start]
        while left:
            number = left.pop()
            if number in seen or re.fullmatch(until, self.names[number]):
                continue
            seen.add(number)
            yield number
            left += self.followers(number)


def kernels(text: str) -> dict[str, Kernel]:
    """The entries of PTX by name."""
    starts = list(re.finditer(r"\.entry (\w+)\(", text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return {
        start[1]: Kernel(text[text.index("{", start.end()) + 1 : end])
        for start, end in zip(starts, ends, strict=True)
    }
