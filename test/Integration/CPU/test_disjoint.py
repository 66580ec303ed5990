# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random pairs of writes into one buffer: what is merged has nothing in common.

Every pair that kv-merge-writes takes for disjoint is enumerated here, over many
slots and sizes.
"""

import itertools
import math
import random
import subprocess

import pytest

#: Pairs in one module, and modules.
PAIRS, MODULES, LONG_MODULES = 150, 3, 60
SLOTS = range(-45, 46)


def strides_of(shape: list[int]) -> list[int]:
    """Row-major strides."""
    return [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]


class View:
    """A view of the buffer: as text, and as numbers of elements."""

    def __init__(self, rng: random.Random, name: str, shape: list[int], dynamic: bool):
        self.name, self.base = name, shape
        self.dynamic = dynamic
        self.kind = rng.choice(["whole", "whole", "subview", "reinterpret"])
        if dynamic and self.kind == "reinterpret":
            self.kind = "whole"
        self.offsets, self.sizes = [0] * len(shape), list(shape)
        self.steps = [1] * len(shape)
        self.strides, self.offset = strides_of(shape), 0
        if self.kind == "subview":
            for dim in range(1 if dynamic else 0, len(shape)):
                self.offsets[dim] = rng.randrange(shape[dim])
                room = shape[dim] - self.offsets[dim]
                self.steps[dim] = rng.choice([1, 1, 2])
                self.sizes[dim] = rng.randint(1, -(-room // self.steps[dim]))
        elif self.kind == "reinterpret":
            self.reinterpret(rng, math.prod(shape))

    def reinterpret(self, rng: random.Random, total: int) -> None:
        """Pages of one half of the buffer's pages."""
        inner = rng.randint(1, 4)
        page = rng.choice([2, 3, 4]) * inner * 2
        pages = total // page
        if pages < 1:
            self.kind = "whole"
            return
        self.sizes = [pages, rng.randint(1, page // inner // 2), inner]
        self.strides = [page, inner, 1]
        first = rng.choice([0, page // 2, rng.randrange(page // 2 + 1)])
        last = sum((n - 1) * s for n, s in zip(self.sizes, self.strides))
        self.offset = first if first + last < total else 0

    def type(self) -> str:
        """The type of the view."""
        sizes = [str(size) for size in self.sizes]
        if self.dynamic:
            sizes[0] = "?"
        text = "x".join([*sizes, "f32"])
        if self.kind == "whole":
            return f"memref<{text}>"
        base = strides_of(self.base)
        if self.kind == "reinterpret":
            strides, offset = self.strides, self.offset
        else:
            strides = [s * step for s, step in zip(base, self.steps)]
            offset = sum(s * o for s, o in zip(base, self.offsets))
        return f"memref<{text}, strided<{strides}, offset: {offset}>>"

    def text(self, base_type: str) -> str:
        """The operation that makes it, or nothing."""
        numbers = list(map(str, self.sizes))
        if self.dynamic:
            numbers[0] = "%n"
        sizes = f"[{', '.join(numbers)}]"
        if self.kind == "subview":
            return (
                f"  %{self.name} = memref.subview %base{self.offsets} {sizes} "
                f"{self.steps} : {base_type} to {self.type()}\n"
            )
        if self.kind == "reinterpret":
            return (
                f"  %{self.name} = memref.reinterpret_cast %base to offset: "
                f"[{self.offset}], sizes: {sizes}, strides: {self.strides} : "
                f"{base_type} to {self.type()}\n"
            )
        return ""

    def value(self) -> str:
        """The SSA value."""
        return "%base" if self.kind == "whole" else f"%{self.name}"

    def number(self, place: list[int]) -> int:
        """The element of the buffer that a place of the view is."""
        if self.kind == "reinterpret":
            return self.offset + sum(c * s for c, s in zip(place, self.strides))
        at = [o + c * step for c, o, step in zip(place, self.offsets, self.steps)]
        return sum(c * s for c, s in zip(at, strides_of(self.base)))


class Member:
    """One write into a view."""

    def __init__(self, rng: random.Random, view: View):
        self.view = view
        self.rows = [rng.randint(1, 4) for _ in range(rng.randint(1, 2))]
        self.policy = rng.choice(["wrap", "error"])
        rows = [f"r{i}" for i in range(len(self.rows))]
        period, factor, shift = rng.randint(1, 4), rng.randint(1, 5), rng.randint(0, 9)
        mixed = f"((s mod {period}) * {factor} + {' + '.join(rows)} + {shift})"
        page = f"(s floordiv {period})"
        rank = len(view.sizes)
        if rank == 1:
            row_size = rng.choice([6, 8, 12])
            self.map = [rng.choice([mixed, f"({page} * {row_size} + {mixed})"])]
        else:
            split = max(2, view.sizes[-1])
            tails = [
                [f"({mixed} floordiv {split})", f"({mixed} mod {split})"],
                ["0", mixed],
                ["1", mixed],
                [rows[0], mixed],
                [f"({rows[0]} + {shift})", mixed],
            ]
            tail = rng.choice(tails)
            heads = [page, "s", "0", "1", "(s * 2)", "(s * 2 + 1)"]
            self.map = [rng.choice(heads) for _ in range(rank - 2)] + tail
            if rank == 2 and self.map[1] == mixed:
                self.map[0] = rng.choice([self.map[0], *heads])

    def text(self) -> str:
        """The write."""
        rows = ", ".join(f"r{i}" for i in range(len(self.rows)))
        values = "x".join(["?", *map(str, self.rows), "f32"])
        argument = f"%v{'_'.join(map(str, self.rows))}"
        return (
            f"  kv.write at(%s : memref<?xi64>) negative({self.policy}) "
            f"out_of_bounds(skip)\n    put {argument} : memref<{values}> into "
            f"{self.view.value()} : {self.view.type()} box\n    map(affine_map<(t, s, "
            f"{rows}) -> ({', '.join(self.map)})>)\n"
        )

    def elements(self, size: int) -> set[int]:
        """All elements of the buffer that it may write."""
        sizes = list(self.view.sizes)
        if self.view.dynamic:
            sizes[0] = size
        code = ", ".join(self.map).replace("floordiv", "//").replace("mod", "%")
        compiled = compile(f"[{code}]", "<map>", "eval")
        found = set()
        for slot in SLOTS:
            for row in itertools.product(*map(range, self.rows)):
                names = {f"r{i}": r for i, r in enumerate(row)}
                place = eval(compiled, {}, {"s": slot, **names})  # noqa: S307
                if self.policy == "wrap":
                    place = [c + n if c < 0 else c for c, n in zip(place, sizes)]
                if all(0 <= c < n for c, n in zip(place, sizes)):
                    found.add(self.view.number(place))
        return found


class Pair:
    """Two writes into views of one buffer, under one policy."""

    def __init__(self, rng: random.Random):
        shape = [rng.randint(2, 6) for _ in range(rng.randint(0, 3))]
        shape.append(rng.randint(4, 24))
        self.dynamic = rng.random() < 0.3
        self.shape = shape
        sizes = ["?" if self.dynamic else str(shape[0]), *map(str, shape[1:])]
        self.type = f"memref<{'x'.join([*sizes, 'f32'])}>"
        self.members = [
            Member(rng, View(rng, name, shape, self.dynamic)) for name in "ab"
        ]
        self.members[1].policy = self.members[0].policy

    def text(self, name: str) -> str:
        """A function."""
        rows = {tuple(member.rows) for member in self.members}
        arguments = [f"%base: {self.type}", "%s: memref<?xi64>", "%n: index"]
        for extents in rows:
            sizes = "x".join(["?", *map(str, extents), "f32"])
            arguments.append(f"%v{'_'.join(map(str, extents))}: memref<{sizes}>")
        body = "".join(m.view.text(self.type) for m in self.members)
        body += "".join(m.text() for m in self.members)
        return f"func.func @{name}({', '.join(arguments)}) {{\n{body}  return\n}}\n"

    def overlaps(self) -> bool:
        """Do they have an element in common, for any size?"""
        sizes = range(1, 8) if self.dynamic else [self.shape[0]]
        elements = [[m.elements(size) for m in self.members] for size in sizes]
        self.is_trivial = not all(map(any, zip(*elements)))
        return any(left & right for left, right in elements)


def check(compiler, seed: int) -> tuple[int, int]:
    """How many pairs that write something were merged, and could have been."""
    rng = random.Random(seed)
    pairs = [Pair(rng) for _ in range(PAIRS)]
    text = "".join(pair.text(f"f{i}") for i, pair in enumerate(pairs))
    result = subprocess.run(
        [
            compiler.path.with_name("kvfuse-opt"),
            "-",
            "-pass-pipeline=builtin.module(kv-merge-writes{only-proven=true})",
        ],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    functions = result.stdout.split("func.func @")[1:]
    merged = disjoint = 0
    for pair, function in zip(pairs, functions, strict=True):
        overlaps = pair.overlaps()
        disjoint += not overlaps and not pair.is_trivial
        if function.count("kv.write at") == 1:
            merged += not pair.is_trivial
            assert not overlaps, function
    return merged, disjoint


@pytest.mark.parametrize("seed", range(MODULES))
def test_merged_pairs_are_disjoint(compiler, seed):
    """And there are some of them."""
    merged, disjoint = check(compiler, seed)
    assert 0 < merged <= disjoint


@pytest.mark.long
@pytest.mark.parametrize("seed", range(MODULES, LONG_MODULES))
def test_many_merged_pairs_are_disjoint(compiler, seed):
    """The same for more."""
    check(compiler, seed)
