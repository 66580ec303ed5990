# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes in branches and loops, and repeated ones, fused and as a chain.

Every program is given caches, two sets of rows, slots, a number and two flags;
NumPy runs the same program on the same caches.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
import torch

from kvfuse_testing import abi

SLOTS, TOKENS, HEAD_DIM = 16, 5, 8
PLACES = [3, 15, 0, -4, 7]
CACHE, POOL, SLICE = "tensor<?x8xf32>", "tensor<3x16x8xf32>", "tensor<16x8xf32>"
SHAPES = {CACHE: (SLOTS, HEAD_DIM), POOL: (3, SLOTS, HEAD_DIM)}
ROWS = "tensor<?x8xf32>"


def write(rows: str, cache: str, kind: str = CACHE) -> str:
    """A write of `rows` into `cache`."""
    return (
        "kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)"
        f" put {rows} : {ROWS} into {cache} : {kind}"
        " map(affine_map<(t, s, d) -> (s, d)>)"
    )


def take_out(pool: str, layer: str | int) -> str:
    """The slice of a layer."""
    return (
        f"tensor.extract_slice {pool}[{layer}, 0, 0] [1, 16, 8] [1, 1, 1]"
        f" : {POOL} to {SLICE}"
    )


def put_back(cache: str, pool: str, layer: str | int) -> str:
    """The pool with a new slice of a layer."""
    return (
        f"tensor.insert_slice {cache} into {pool}[{layer}, 0, 0] [1, 16, 8]"
        f" [1, 1, 1] : {SLICE} into {POOL}"
    )


@dataclasses.dataclass(frozen=True)
class Given:
    """The arguments as NumPy sees them; `store` is a write into one cache."""

    caches: list[np.ndarray]
    k: np.ndarray
    v: np.ndarray
    n: int
    a: bool
    b: bool

    def store(self, cache: np.ndarray, rows: np.ndarray) -> None:
        for place, row in zip(PLACES, rows, strict=True):
            cache[place] = row


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of `caches`, given by their types, and what NumPy does.

    `kernels` is how many kernels fusion leaves.
    """

    caches: tuple[str, ...]
    body: str
    results: str
    run: Callable[[Given], None]
    kernels: int

    def text(self) -> str:
        """The module."""
        arguments = [
            f"%c{i}: {kind} {{bufferization.writable = true}}"
            for i, kind in enumerate(self.caches)
        ]
        arguments += [f"%k: {ROWS}", f"%v: {ROWS}", "%slots: tensor<?xi64>"]
        arguments += ["%n: index", "%a: i1", "%b: i1"]
        types = ", ".join(self.caches)
        return f"""func.func @main({", ".join(arguments)}) -> ({types}) {{
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
{self.body}
  return {self.results} : {types}
}}
"""


def run_branch(given: Given) -> None:
    cache = given.caches[0]
    given.store(cache, given.k if given.a else given.v)
    if given.b:
        given.store(cache, given.k)


BRANCH = Program(
    (CACHE,),
    f"""
  %x = scf.if %a -> {CACHE} {{
    %1 = {write("%k", "%c0")}
    scf.yield %1 : {CACHE}
  }} else {{
    %2 = {write("%v", "%c0")}
    scf.yield %2 : {CACHE}
  }}
  %y = scf.if %b -> {CACHE} {{
    %3 = {write("%k", "%x")}
    scf.yield %3 : {CACHE}
  }} else {{
    scf.yield %x : {CACHE}
  }}""",
    "%y",
    run_branch,
    3,
)


def run_branch_of_two(given: Given) -> None:
    if given.a:
        given.store(given.caches[0], given.k)
        given.store(given.caches[1], given.v)


BRANCH_OF_TWO = Program(
    (CACHE, CACHE),
    f"""
  %x:2 = scf.if %a -> ({CACHE}, {CACHE}) {{
    %1 = {write("%k", "%c0")}
    %2 = {write("%v", "%c1")}
    scf.yield %1, %2 : {CACHE}, {CACHE}
  }} else {{
    scf.yield %c0, %c1 : {CACHE}, {CACHE}
  }}""",
    "%x#0, %x#1",
    run_branch_of_two,
    1,
)


def run_loop(given: Given) -> None:
    for i in range(given.n):
        given.store(given.caches[0], given.v if i else given.k)
    given.store(given.caches[1], given.k)


LOOP = Program(
    (CACHE, CACHE),
    f"""
  %x = scf.for %i = %i0 to %n step %i1 iter_args(%old = %c0) -> {CACHE} {{
    %first = arith.cmpi eq, %i, %i0 : index
    %new = scf.if %first -> {CACHE} {{
      %1 = {write("%k", "%old")}
      scf.yield %1 : {CACHE}
    }} else {{
      %2 = {write("%v", "%old")}
      scf.yield %2 : {CACHE}
    }}
    scf.yield %new : {CACHE}
  }}
  %y = {write("%k", "%c1")}""",
    "%x, %y",
    run_loop,
    3,
)


def run_layers(given: Given) -> None:
    for i in range(min(given.n, 3)):
        given.store(given.caches[0][i], given.k)
        given.store(given.caches[1][i], given.v)


LAYERS = Program(
    (POOL, POOL),
    f"""
  %i3 = arith.constant 3 : index
  %end = arith.minsi %n, %i3 : index
  %x:2 = scf.for %i = %i0 to %end step %i1
      iter_args(%p = %c0, %q = %c1) -> ({POOL}, {POOL}) {{
    %k0 = {take_out("%p", "%i")}
    %k1 = {write("%k", "%k0", SLICE)}
    %p1 = {put_back("%k1", "%p", "%i")}
    %v0 = {take_out("%q", "%i")}
    %v1 = {write("%v", "%v0", SLICE)}
    %q1 = {put_back("%v1", "%q", "%i")}
    scf.yield %p1, %q1 : {POOL}, {POOL}
  }}""",
    "%x#0, %x#1",
    run_layers,
    1,
)


def run_slice_around_loop(given: Given) -> None:
    if given.n:
        given.store(given.caches[0][1], given.k)
    if given.a:
        given.store(given.caches[0][2], given.v)


SLICE_AROUND_LOOP = Program(
    (POOL,),
    f"""
  %k0 = {take_out("%c0", 1)}
  %v0 = {take_out("%c0", 2)}
  %k1 = scf.for %i = %i0 to %n step %i1 iter_args(%old = %k0) -> {SLICE} {{
    %1 = {write("%k", "%old", SLICE)}
    scf.yield %1 : {SLICE}
  }}
  %p1 = {put_back("%k1", "%c0", 1)}
  %v1 = scf.if %a -> {SLICE} {{
    %2 = {write("%v", "%v0", SLICE)}
    scf.yield %2 : {SLICE}
  }} else {{
    scf.yield %v0 : {SLICE}
  }}
  %p2 = {put_back("%v1", "%p1", 2)}""",
    "%p2",
    run_slice_around_loop,
    2,
)


def run_prewritten(given: Given) -> None:
    given.store(given.caches[0], given.k)
    given.store(given.caches[1], given.v)


#: The indexer has written K, so neither flag matters.
PREWRITTEN = Program(
    (CACHE, CACHE),
    f"""
  %k1 = {write("%k", "%c0")}
  %v1 = scf.if %a -> {CACHE} {{
    %1 = {write("%v", "%c1")}
    scf.yield %1 : {CACHE}
  }} else {{
    %2 = {write("%v", "%c1")}
    scf.yield %2 : {CACHE}
  }}
  %k2 = scf.if %a -> {CACHE} {{
    scf.yield %k1 : {CACHE}
  }} else {{
    %3 = {write("%k", "%k1")}
    scf.yield %3 : {CACHE}
  }}
  %k3 = {write("%k", "%k2")}""",
    "%k3, %v1",
    run_prewritten,
    3,
)


def run_maybe_prewritten(given: Given) -> None:
    if given.a:
        given.store(given.caches[0], given.v)
    if not given.b:
        given.store(given.caches[0], given.k)


#: Nobody has written K: the branch stays.
MAYBE_PREWRITTEN = Program(
    (CACHE,),
    f"""
  %x = scf.if %a -> {CACHE} {{
    %1 = {write("%v", "%c0")}
    scf.yield %1 : {CACHE}
  }} else {{
    scf.yield %c0 : {CACHE}
  }}
  %y = scf.if %b -> {CACHE} {{
    scf.yield %x : {CACHE}
  }} else {{
    %2 = {write("%k", "%x")}
    scf.yield %2 : {CACHE}
  }}""",
    "%y",
    run_maybe_prewritten,
    2,
)


def run_overwritten(given: Given) -> None:
    given.store(given.caches[0][0], given.k)
    given.store(given.caches[0][2], given.v)


#: A write that a later one overwrites, and a repeated one, in one pool.
OVERWRITTEN = Program(
    (POOL,),
    f"""
  %1 = {take_out("%c0", 0)}
  %2 = {write("%v", "%1", SLICE)}
  %3 = {write("%k", "%2", SLICE)}
  %p1 = {put_back("%3", "%c0", 0)}
  %4 = {take_out("%p1", 2)}
  %5 = {write("%v", "%4", SLICE)}
  %p2 = {put_back("%5", "%p1", 2)}
  %6 = {take_out("%p2", 0)}
  %7 = {write("%k", "%6", SLICE)}
  %p3 = {put_back("%7", "%p2", 0)}""",
    "%p3",
    run_overwritten,
    2,
)

PROGRAMS = {
    "branch": BRANCH,
    "branch-of-two": BRANCH_OF_TWO,
    "loop": LOOP,
    "layers": LAYERS,
    "slice-around-loop": SLICE_AROUND_LOOP,
    "prewritten": PREWRITTEN,
    "maybe-prewritten": MAYBE_PREWRITTEN,
    "overwritten": OVERWRITTEN,
}


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bytes(compiler, name, fuse):
    program = PROGRAMS[name]
    options = ("--target=cpu", "--emit=shared", f"--fuse={fuse}")
    library = abi.Library(compiler.compile(program.text(), *options))
    generator = torch.Generator().manual_seed(3)
    for n, a, b in [(0, False, False), (1, True, False), (3, False, True), (5, True, True)]:
        caches = [torch.randn(SHAPES[kind], generator=generator) for kind in program.caches]
        k, v = torch.randn(2, TOKENS, HEAD_DIM, generator=generator)
        expected = [cache.numpy().copy() for cache in caches]
        program.run(Given(expected, k.numpy(), v.numpy(), n, a, b))
        library.call("main", *caches, k, v, torch.tensor(PLACES), n, a, b)
        for cache, array in zip(caches, expected, strict=True):
            assert cache.numpy().tobytes() == array.tobytes(), (n, a, b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels(compiler, name):
    """In place, and in as few kernels as can be."""
    program = PROGRAMS[name]
    output = compiler.compile(program.text(), "--emit=gpu", "--no-versioning")
    text = output.read_text()
    assert "memref.alloc" not in text
    assert "memref.copy" not in text
    assert len(compiler.launches(output)) == program.kernels
