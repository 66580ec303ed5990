# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written IR on buffers: several writes, merged into one and one by one.

NumPy stores every element by itself, in Python integers, from a function that
says where it goes.
"""

import dataclasses
import itertools
from collections.abc import Callable

import numpy
import pytest
import torch

from kvfuse_testing import abi

PAGE = 4
SLOTS = [3, 19, 0, 8, -1, 14, 6]
TOKENS = len(SLOTS)


@dataclasses.dataclass(frozen=True)
class Member:
    """One write: `place` takes (token, slot, *row) to coordinates in `cache`,
    a view of the arguments; `values` has the token first."""

    cache: Callable[[dict], numpy.ndarray]
    values: Callable[[dict], numpy.ndarray]
    place: Callable[..., tuple[int, ...]]


@dataclasses.dataclass(frozen=True)
class Program:
    """Arguments by name, in order; the body of the function; what it writes."""

    arguments: Callable[[], dict[str, torch.Tensor]]
    types: dict[str, str]
    body: str
    members: list[Member]

    def module(self) -> str:
        """The module with its one function."""
        head = ", ".join(f"%{name}: {type_}" for name, type_ in self.types.items())
        return (
            "module {\nmodule @kvfuse {\n"
            f"func.func @main({head}) {{\n{self.body}\n  return\n}}\n}}\n}}\n"
        )


def numbers(*shape: int, start: float = 0.0) -> torch.Tensor:
    """A tensor of different numbers."""
    count = int(numpy.prod(shape))
    return (torch.arange(count, dtype=torch.float32) + start).reshape(shape)


def slots() -> torch.Tensor:
    """One slot per token."""
    return torch.tensor(SLOTS)


def store(member: Member, arrays: dict[str, numpy.ndarray]) -> None:
    """Does one write: negative coordinates wrap, each by its own size."""
    cache, values = member.cache(arrays), member.values(arrays)
    active = arrays.get("mask", numpy.ones(TOKENS, bool))
    for token, slot in enumerate(SLOTS):
        if not active[token]:
            continue
        for row in itertools.product(*map(range, values.shape[1:])):
            place = member.place(token, slot, *row)
            cache[tuple(c + n if c < 0 else c for c, n in zip(place, cache.shape))] = (
                values[(token, *row)]
            )


def write(values: str, type_: str, cache: str, cache_type: str, put: str) -> str:
    """The text of one write at the slots."""
    return (
        "  kv.write at(%slots : memref<?xi64>) negative(wrap) out_of_bounds(trap)\n"
        f"    put {values} : {type_} into {cache} : {cache_type} {put}\n"
    )


def layouts() -> Program:
    """K in pages of 4, V wider and in pages of 8, index-K flat with one head."""
    masked = "at(%slots : memref<?xi64>) mask(%mask : memref<?xi1>)"
    types = {
        "slots": "memref<?xi64>",
        "mask": "memref<?xi1>",
        "k": "memref<?x2x8xf32>",
        "kc": "memref<?x2x4x8xf32>",
        "v": "memref<3x?x16xf32>",
        "vc": "memref<?x8x3x16xf32, strided<[?, ?, ?, ?], offset: ?>>",
        "i": "memref<?x4xf32>",
        "ic": "memref<?x4xf32>",
    }
    body = (
        write("%k", types["k"], "%kc", types["kc"], "map(affine_map<(t, s, h, d) -> "
              "(s floordiv 4, h, s mod 4, d)>)")
        + write("%v", types["v"], "%vc", types["vc"], "map(affine_map<(t, s, h, d) -> "
                "(s floordiv 8, s mod 8, h, d)>) "
                "order(affine_map<(t, h, d) -> (h, t, d)>)")
        + write("%i", types["i"], "%ic", types["ic"],
                "map(affine_map<(t, s, d) -> (s, d)>)")
    ).replace("at(%slots : memref<?xi64>)", masked)

    def arguments() -> dict[str, torch.Tensor]:
        return {
            "slots": slots(),
            "mask": torch.tensor([True, True, False, True, True, True, True]),
            "k": numbers(TOKENS, 2, 8),
            "kc": torch.full((5, 2, PAGE, 8), -1.0),
            "v": numbers(3, TOKENS, 16, start=1000),
            # Heads lie apart, and every second element is not the cache's.
            "vc": torch.full((3, 3, 8, 40), -2.0).permute(0, 2, 1, 3)[..., 4:36:2],
            "i": numbers(TOKENS, 4, start=5000),
            "ic": torch.full((20, 4), -3.0),
        }

    members = [
        Member(lambda a: a["kc"], lambda a: a["k"],
               lambda t, s, h, d: (s // 4, h, s % 4, d)),
        Member(lambda a: a["vc"], lambda a: a["v"].transpose(1, 0, 2),
               lambda t, s, h, d: (s // 8, s % 8, h, d)),
        Member(lambda a: a["ic"], lambda a: a["i"], lambda t, s, d: (s, d)),
    ]  # fmt: skip
    return Program(arguments, types, body, members)


def pool() -> Program:
    """K and V as the halves of each page of layer 1 of a pool."""
    view = "memref<?x2x4x8xf32, strided<[?, ?, ?, ?], offset: ?>>"
    source = "memref<?x?x2x2x4x8xf32, strided<[?, ?, ?, ?, ?, ?], offset: ?>>"
    types = {
        "slots": "memref<?xi64>",
        "k": "memref<?x2x8xf32>",
        "v": "memref<?x2x8xf32>",
        "pool": source,
    }
    half = (
        "  %{name} = memref.subview %pool[1, 0, {half}, 0, 0, 0] [1, %n, 1, 2, 4, 8] "
        "[1, 1, 1, 1, 1, 1] : {source} to {view}\n"
    )
    put = "map(affine_map<(t, s, h, d) -> (s floordiv 4, h, s mod 4, d)>)"
    body = (
        "  %c1 = arith.constant 1 : index\n"
        f"  %n = memref.dim %pool, %c1 : {source}\n"
        + half.format(name="kc", half=0, source=source, view=view)
        + half.format(name="vc", half=1, source=source, view=view)
        + write("%k", types["k"], "%kc", view, put)
        + write("%v", types["v"], "%vc", view, put)
    )

    def arguments() -> dict[str, torch.Tensor]:
        return {
            "slots": slots(),
            "k": numbers(TOKENS, 2, 8),
            "v": numbers(TOKENS, 2, 8, start=1000),
            "pool": torch.full((2, 5, 2, 2, PAGE, 8), -1.0),
        }

    def place(t, s, h, d):
        return (s // 4, h, s % 4, d)

    members = [
        Member(lambda a: a["pool"][1, :, 0], lambda a: a["k"], place),
        Member(lambda a: a["pool"][1, :, 1], lambda a: a["v"], place),
    ]
    return Program(arguments, types, body, members)


def packed_rows() -> Program:
    """K, V and a selector in one memref: columns of a row, then another row."""
    types = {
        "slots": "memref<?xi64>",
        "k": "memref<?x8xf32>",
        "v": "memref<?x4xf32>",
        "w": "memref<?x12xf32>",
        "c": "memref<?x2x12xf32>",
    }
    body = (
        write("%k", types["k"], "%c", types["c"],
              "box map(affine_map<(t, s, d) -> (s, 0, d)>)")
        + write("%v", types["v"], "%c", types["c"],
                "box map(affine_map<(t, s, d) -> (s, 0, d + 8)>)")
        + write("%w", types["w"], "%c", types["c"],
                "map(affine_map<(t, s, d) -> (s, 1, d)>)")
    )

    def arguments() -> dict[str, torch.Tensor]:
        return {
            "slots": slots(),
            "k": numbers(TOKENS, 8),
            "v": numbers(TOKENS, 4, start=1000),
            "w": numbers(TOKENS, 12, start=2000),
            "c": torch.full((20, 2, 12), -1.0),
        }

    members = [
        Member(lambda a: a["c"], lambda a: a["k"], lambda t, s, d: (s, 0, d)),
        Member(lambda a: a["c"], lambda a: a["v"], lambda t, s, d: (s, 0, d + 8)),
        Member(lambda a: a["c"], lambda a: a["w"], lambda t, s, d: (s, 1, d)),
    ]
    return Program(arguments, types, body, members)


def interleaved() -> Program:
    """Two views of other shapes whose pages take turns in one buffer."""
    types = {
        "slots": "memref<?xi64>",
        "k": "memref<?x8xf32>",
        "v": "memref<?x16xf32>",
        "pool": "memref<384xf32>",
    }
    k_view = "memref<6x4x8xf32, strided<[64, 8, 1]>>"
    v_view = "memref<6x2x16xf32, strided<[64, 16, 1], offset: 32>>"
    body = (
        "  %kc = memref.reinterpret_cast %pool to offset: [0], sizes: [6, 4, 8], "
        f"strides: [64, 8, 1] : memref<384xf32> to {k_view}\n"
        "  %vc = memref.reinterpret_cast %pool to offset: [32], sizes: [6, 2, 16], "
        f"strides: [64, 16, 1] : memref<384xf32> to {v_view}\n"
        + write("%k", types["k"], "%kc", k_view,
                "map(affine_map<(t, s, d) -> (s floordiv 4, s mod 4, d)>)")
        + write("%v", types["v"], "%vc", v_view,
                "map(affine_map<(t, s, d) -> (s floordiv 4, s mod 2, d)>)")
    )

    def arguments() -> dict[str, torch.Tensor]:
        # Slots of one page that share an offset modulo 2 store the same values.
        values = numbers(TOKENS, 16, start=1000)
        for token, slot in enumerate(SLOTS):
            values[token] = 100.0 * (slot // 4) + slot % 2
        return {
            "slots": slots(),
            "k": numbers(TOKENS, 8),
            "v": values,
            "pool": torch.full((384,), -1.0),
        }

    members = [
        Member(lambda a: a["pool"].reshape(6, 64)[:, :32].reshape(6, 4, 8),
               lambda a: a["k"], lambda t, s, d: (s // 4, s % 4, d)),
        Member(lambda a: a["pool"].reshape(6, 64)[:, 32:].reshape(6, 2, 16),
               lambda a: a["v"], lambda t, s, d: (s // 4, s % 2, d)),
    ]  # fmt: skip
    return Program(arguments, types, body, members)


def byte_pages() -> Program:
    """Pages of 4 rows of 8 bytes, then 4 scales of 4, seen as rows of 12."""
    types = {
        "slots": "memref<?xi64>",
        "k": "memref<?x8xi8>",
        "scale": "memref<?x4xi8>",
        "c": "memref<?x4x12xi8>",
    }
    value, scale = "((s mod 4) * 8 + d)", "((s mod 4) * 4 + d + 32)"
    put = "map(affine_map<(t, s, d) -> (s floordiv 4, {0} floordiv 12, {0} mod 12)>)"
    body = write(
        "%k", types["k"], "%c", types["c"], put.format(value)
    ) + write("%scale", types["scale"], "%c", types["c"], put.format(scale))

    def arguments() -> dict[str, torch.Tensor]:
        return {
            "slots": slots(),
            "k": numbers(TOKENS, 8).to(torch.int8),
            "scale": (numbers(TOKENS, 4) - 100).to(torch.int8),
            "c": torch.full((5, PAGE, 12), -1, dtype=torch.int8),
        }

    members = [
        Member(lambda a: a["c"], lambda a: a["k"],
               lambda t, s, d: (s // 4, *divmod(s % 4 * 8 + d, 12))),
        Member(lambda a: a["c"], lambda a: a["scale"],
               lambda t, s, d: (s // 4, *divmod(s % 4 * 4 + d + 32, 12))),
    ]  # fmt: skip
    return Program(arguments, types, body, members)


PROGRAMS = {
    program.__name__: program()
    for program in (layouts, pool, packed_rows, interleaved, byte_pages)
}
NAMES = list(PROGRAMS)


def as_numpy(arguments: dict[str, torch.Tensor]) -> dict[str, numpy.ndarray]:
    """The arguments as NumPy arrays of the same memory."""
    return {name: tensor.numpy() for name, tensor in arguments.items()}


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("name", NAMES)
def test_bytes(compiler, name, fuse):
    """Merged or one by one, every element is where NumPy puts it."""
    program = PROGRAMS[name]
    output = compiler.compile(
        program.module(), "--target=cpu", "--emit=shared", f"--fuse={fuse}"
    )
    actual, expected = program.arguments(), as_numpy(program.arguments())
    for member in program.members:
        store(member, expected)
    abi.Library(output).call("main", *actual.values())
    for argument, array in as_numpy(actual).items():
        assert numpy.array_equal(array, expected[argument]), argument


@pytest.mark.parametrize("name", NAMES)
def test_one_launch(compiler, name):
    """The writes are proven disjoint and merged; unfused they are not."""
    program = PROGRAMS[name]
    for fuse, launches in (("on", 1), ("off", len(program.members))):
        text = compiler.compile(
            program.module(),
            "--target=sm_90",
            "--emit=gpu",
            "--no-versioning",
            f"--fuse={fuse}",
        ).read_text()
        assert text.count("gpu.launch_func") == launches


@pytest.mark.parametrize("name", NAMES)
def test_ptx(compiler, name):
    """It compiles for a GPU, and one kernel holds all of it."""
    options = ("--target=sm_90", "--emit=ptx", "--no-versioning")
    ptx = compiler.compile(PROGRAMS[name].module(), *options)
    assert ptx.read_text().count(".visible .entry") == 1
