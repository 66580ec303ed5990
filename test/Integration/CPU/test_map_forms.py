# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random maps, grids, orders, boxes and policies of one write.

Coordinates mix index values, grid and row coordinates under divisions; slots are
negative, inside, and too large. Each write runs as it is and taken apart into
its chain. Python's own integers say where every element goes.
"""

import itertools
import random
import subprocess

import numpy
import pytest
import torch

from kvfuse_testing import abi

NUM_PROGRAMS = 24


class Terms:
    """Affine expressions as text that both MLIR and Python evaluate."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def index(self, names: list[str]) -> str:
        """An expression of an index value."""
        name, number = self.rng.choice(names), self.rng.randint(2, 6)
        return self.rng.choice(
            [
                name,
                f"({name} floordiv {number})",
                f"({name} mod {number})",
                f"({name} * 2 + 1)",
                f"(({name} + 3) floordiv {number})",
                f"(({name} mod {number}) floordiv 2)",
            ]
        )

    def mixed(self, names: list[str], row: str, extent: int) -> str:
        """An expression of an index value and a row coordinate."""
        slot, number = self.index(names), self.rng.randint(2, 6)
        return self.rng.choice(
            [
                f"({row} + {number})",
                f"({row} * 2 + 1)",
                f"({slot} * {extent} + {row})",
                f"(({slot} * {extent} + {row}) floordiv {number})",
                f"(({slot} * {extent} + {row}) mod {number})",
                f"(({row} * 7 + {slot}) mod {number})",
                f"({row} floordiv 2 + {number})",
            ]
        )


def evaluate(expr: str, names: dict[str, int]) -> int:
    """Python's // and % are floor and remainder of affine maps."""
    python = expr.replace("floordiv", "//").replace("mod", "%")
    return eval(python, {}, names)  # noqa: S307


class Program:
    """One write, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.grid = [rng.randint(1, 5) for _ in range(rng.choice([1, 1, 2]))]
        self.rows = [rng.randint(1, 6) for _ in range(rng.randint(1, 3))]
        self.num_indices = rng.randint(1, 2)
        self.negative = rng.choice(["wrap", "error"])
        self.box = rng.random() < 0.5
        self.dynamic = rng.random() < 0.5
        self.draw_map(rng)
        axes = list(range(len(self.grid) + len(self.rows)))
        rng.shuffle(axes)
        self.order = axes
        self.slots = [
            numpy.array([rng.randint(-9, 14) for _ in range(numpy.prod(self.grid))])
            for _ in range(self.num_indices)
        ]

    def draw_map(self, rng: random.Random) -> None:
        """Coordinates of the cache, and its shape."""
        terms = Terms(rng)
        self.dims = [f"t{i}" for i in range(len(self.grid))]
        slots = [f"s{i}" for i in range(self.num_indices)]
        self.dims += slots + [f"r{i}" for i in range(len(self.rows))]
        coordinates = [(terms.index(slots), rng.randint(3, 12))]
        for i, extent in enumerate(self.rows):
            if rng.random() < 0.5:
                size = extent + (rng.randint(0, 2) if self.box else 0)
                coordinates.append((f"r{i}", size))
            else:
                coordinates.append(
                    (terms.mixed(slots, f"r{i}", extent), rng.randint(3, 12))
                )
        if rng.random() < 0.3:
            coordinates.append(("t0", max(1, self.grid[0] - rng.randint(0, 1))))
        rng.shuffle(coordinates)
        self.map = [expr for expr, _ in coordinates]
        self.shape = [size for _, size in coordinates]

    def module(self) -> str:
        """The write, on tensors of static or dynamic sizes."""
        extents = self.grid + self.rows

        def tensor(sizes: list[int], element: str) -> str:
            text = ["?" if self.dynamic else str(size) for size in sizes]
            return f"tensor<{'x'.join([*text, element])}>"

        cache = tensor(self.shape, "f32")
        values = tensor([extents[axis] for axis in self.order], "f32")
        index = tensor(self.grid, "i64")
        names = [f"%s{i}" for i in range(self.num_indices)]
        arguments = ", ".join(f"{name}: {index}" for name in names)
        axes = ", ".join(f"a{i}" for i in range(len(extents)))
        order = ", ".join(f"a{axis}" for axis in self.order)
        return f"""
func.func @main(%cache: {cache} {{bufferization.writable = true}}, %values: {values},
                {arguments}) -> {cache} {{
  %0 = kv.write at({", ".join(names)} : {", ".join([index] * len(names))})
      negative({self.negative}) out_of_bounds(skip)
    put %values : {values} into %cache : {cache} {"box" if self.box else ""}
        map(affine_map<({", ".join(self.dims)}) -> ({", ".join(self.map)})>)
        order(affine_map<({axes}) -> ({order})>)
  return %0 : {cache}
}}
"""

    def places(self):
        """(grid and row coordinates, place in the cache) of what is written."""
        for token, point in enumerate(itertools.product(*map(range, self.grid))):
            for row in itertools.product(*map(range, self.rows)):
                at = [*point, *(int(slots[token]) for slots in self.slots), *row]
                place = [evaluate(e, dict(zip(self.dims, at))) for e in self.map]
                if self.negative == "wrap":
                    place = [c + n if c < 0 else c for c, n in zip(place, self.shape)]
                if all(0 <= c < n for c, n in zip(place, self.shape)):
                    yield (*point, *row), tuple(place)

    def run(self, path) -> None:
        """Calls the compiled function and compares the cache."""
        extents = self.grid + self.rows
        values = numpy.zeros(extents, numpy.float32)
        expected = numpy.full(self.shape, -1, numpy.float32)
        # Elements that go to one place are equal: any of them may be kept (SX7).
        for number, (source, place) in enumerate(self.places()):
            if expected[place] < 0:
                expected[place] = number
            values[source] = expected[place]
        cache = torch.full(self.shape, -1.0)
        slots = [torch.from_numpy(s.reshape(self.grid)) for s in self.slots]
        ordered = torch.from_numpy(values.transpose(self.order).copy())
        abi.Library(path).call("main", cache, ordered, *slots)
        assert numpy.array_equal(cache.numpy(), expected)


def canonicalize(compiler, text: str) -> str:
    """The module behind upstream's canonicalizer."""
    tool = compiler.path.with_name("kvfuse-opt")
    command = [tool, "-", "-canonicalize"]
    result = subprocess.run(
        command, input=text, capture_output=True, text=True, check=True
    )
    return result.stdout


@pytest.mark.parametrize("seed", range(NUM_PROGRAMS))
def test_bytes(compiler, seed):
    """As one write, taken apart, and canonicalized before either."""
    program = Program(seed)
    text = program.module()
    for module in (text, canonicalize(compiler, text)):
        for fuse in ("on", "off"):
            options = ("--target=cpu", "--emit=shared", f"--fuse={fuse}", "-O0")
            program.run(compiler.compile(module, *options))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(NUM_PROGRAMS, 20 * NUM_PROGRAMS))
def test_bytes_of_many(compiler, seed):
    """The same for many more."""
    test_bytes(compiler, seed)
