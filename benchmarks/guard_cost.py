#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the host side of a call: what do tests of layouts at run time cost?

    benchmarks/guard_cost.py [--calls 200000] [--rounds 15] [--json FILE]

A layer writes K and V, once with everything left to the call (numbers of pages and
tokens, strides, offsets, alignment, overlap) and once with the layouts in the types
and the rest promised. The caches are arguments, or places of one pool.

Without tokens nothing is launched, so that a call is its tests alone; with one token
the CPU runs the kernel too. Calls come from a loop in C; an empty function with the
same arguments shows what a call costs by itself. Variants take turns, and the figure
is the median of their rounds: compare the ratios of one run.
"""

import argparse
import ctypes
import dataclasses
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import record

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES, PAGE, HEADS, HEAD_DIM = 16, 32, 4, 128
PUT = "map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)"

LOOP = """
#include <stddef.h>
#include <time.h>
typedef const char *(*Function)({types});
double time_calls(Function f, void **a, long calls) {{
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long i = 0; i < calls; ++i)
    if (f({arguments}) != NULL)
      return -1.0;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return 1e9 * (double)(end.tv_sec - start.tv_sec) +
         (double)(end.tv_nsec - start.tv_nsec);
}}
"""


@dataclasses.dataclass(frozen=True)
class Argument:
    """A memref; its first size is the number of pages or tokens."""

    name: str
    sizes: tuple[int, ...]
    element: str
    is_cache: bool = False

    @property
    def strides(self) -> list[int]:
        """Strides of a dense memref."""
        strides = [1]
        for size in reversed(self.sizes):
            strides.insert(0, strides[0] * size)
        return strides

    def type(self, known: bool) -> str:
        """The memref type, with its layout or without."""
        shape = "x".join(["?", *map(str, self.sizes), self.element])
        if known:
            return f"memref<{shape}, strided<{self.strides}>>"
        layout = ", ".join("?" * len(self.strides))
        return f"memref<{shape}, strided<[{layout}], offset: ?>>"


SLOTS = Argument("slots", (), "i64")
CACHE, ROWS = (HEADS, PAGE, HEAD_DIM), (HEADS, HEAD_DIM)
ROW_ARGUMENTS = [Argument(member, ROWS, "bf16") for member in "kv"]
#: Model -> its memrefs. In "arguments" a call tests that no two of them overlap (SM8);
#: in "pool" K and V are places of one memref, and what lies where is an argument, too.
MODELS = {
    "arguments": [
        SLOTS,
        *ROW_ARGUMENTS,
        Argument("kc", CACHE, "bf16", is_cache=True),
        Argument("vc", CACHE, "bf16", is_cache=True),
    ],
    "pool": [
        SLOTS,
        *ROW_ARGUMENTS,
        Argument("pool", (2, *CACHE), "bf16", is_cache=True),
    ],
}
#: Where K and V lie in the pool.
PLACES = {"k": 0, "v": 1}


def member_type(known: bool, place: int) -> str:
    """The type of K or V as a part of the pool."""
    part = Argument("", CACHE, "bf16")
    shape = "x".join(["?", *map(str, CACHE), "bf16"])
    if not known:
        return part.type(known)
    strides = [2 * part.strides[0], *part.strides[1:]]
    return f"memref<{shape}, strided<{strides}, offset: {place * part.strides[0]}>>"


def pool_lines(known: bool, pool: str) -> list[str]:
    """K and V as parts of the pool."""
    lines = ["%c0 = arith.constant 0 : index", f"%n = memref.dim %pool, %c0 : {pool}"]
    sizes = ", ".join(map(str, CACHE))
    for member, place in PLACES.items():
        at = place if known else f"%{member}_at"
        lines.append(
            f"%{member}c = memref.subview %pool[0, {at}, 0, 0, 0] [%n, 1, {sizes}]"
            f" [1, 1, 1, 1, 1] : {pool} to {member_type(known, place)}"
        )
    return lines


def module(model: str, known: bool, writes: bool = True) -> str:
    """@main, with the layouts in the types or not; without writes it is empty."""
    types = {argument.name: argument.type(known) for argument in MODELS[model]}
    head = [f"%{name}: {type_}" for name, type_ in types.items()]
    head += [f"%{member}_at: index" for member in PLACES]
    lines = pool_lines(known, types["pool"]) if model == "pool" and writes else []
    for member, place in PLACES.items() if writes else ():
        cache = types.get(f"{member}c") or member_type(known, place)
        lines.append(
            f"kv.write at(%slots : {types['slots']}) negative(wrap) out_of_bounds(trap)"
            f" put %{member} : {types[member]} into %{member}c : {cache} {PUT}"
        )
    body = "\n".join([f"func.func @main({', '.join(head)}) {{", *lines, "return", "}"])
    return f"module {{ module @kvfuse {{\n{body}\n}} }}\n"


@dataclasses.dataclass(frozen=True)
class Variant:
    """What is compiled: are the layouts in the types, and with which options?"""

    known: bool
    writes: bool = True
    options: tuple[str, ...] = ()


ALIGNED, DISJOINT = "--assume-aligned", "--assume-disjoint"
VARIANTS = {
    "empty": Variant(known=False, writes=False),
    "all dynamic": Variant(known=False),
    # Without SM8 at the entry, and without the disjointness of K and V in a pool.
    "strides, alignment": Variant(known=False, options=(DISJOINT,)),
    "overlap": Variant(known=True, options=(ALIGNED,)),
    "all static": Variant(known=True, options=(ALIGNED, DISJOINT)),
}


def descriptor(argument: Argument, count: int) -> tuple[ctypes.Structure, bytearray]:
    """The memref descriptor of a dense buffer, and the buffer."""
    rank = len(argument.sizes) + 1
    memory = (ctypes.c_char * (8 * max(count, 1) * argument.strides[0] + 64))()
    base = (ctypes.addressof(memory) + 63) // 64 * 64
    fields = [(name, ctypes.c_int64) for name in ("allocated", "aligned", "offset")]
    fields += [(name, ctypes.c_int64 * rank) for name in ("sizes", "strides")]
    kind = type(f"Memref{rank}", (ctypes.Structure,), {"_fields_": fields})
    made = kind(base, base, 0)
    made.sizes[:] = [count, *argument.sizes]
    made.strides[:] = argument.strides
    return made, memory


def build_loop(folder: pathlib.Path, count: int) -> ctypes.CDLL:
    """The loop in C, for functions of `count` arguments."""
    source, library = folder / f"loop{count}.c", folder / f"loop{count}.so"
    types = ", ".join(["void *"] * count)
    arguments = ", ".join(f"a[{number}]" for number in range(count))
    source.write_text(LOOP.format(types=types, arguments=arguments))
    command = ["cc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    loop = ctypes.CDLL(str(library))
    loop.time_calls.restype = ctypes.c_double
    loop.time_calls.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    return loop


def build(folder: pathlib.Path, model: str, name: str) -> ctypes.CDLL:
    """One variant as a library."""
    variant = VARIANTS[name]
    text = module(model, variant.known, variant.writes)
    tools = pathlib.Path(os.environ.get("KVFUSE_BIN_DIR", ROOT / "build" / "bin"))
    output = folder / f"{model} {name}.so"
    command = [tools / "kvfuse-compile", "-", "--target=cpu", "--emit=shared", "-O2"]
    command += ["-o", output, *variant.options]
    subprocess.run(command, input=text.encode(), check=True)
    # The library names it without a path, and finds it where it is loaded.
    ctypes.CDLL(str(tools.parent / "lib" / "libkvfuse_runtime.so"))
    return ctypes.CDLL(str(output))


class Timer:
    """Calls all variants of a model in turn."""

    def __init__(self, folder: pathlib.Path, model: str) -> None:
        self.arguments = MODELS[model]
        self.loop = build_loop(folder, len(self.arguments) + len(PLACES))
        self.libraries = {name: build(folder, model, name) for name in VARIANTS}

    def time(self, tokens: int, calls: int, rounds: int) -> dict[str, float]:
        """Variant -> nanoseconds of a call."""
        made = [
            descriptor(argument, PAGES if argument.is_cache else tokens)
            for argument in self.arguments
        ]
        given = [ctypes.addressof(memref) for memref, _ in made] + [*PLACES.values()]
        passed = (ctypes.c_void_p * len(given))(*given)
        times: dict[str, list[float]] = {name: [] for name in self.libraries}
        for _ in range(rounds + 1):
            for name, library in self.libraries.items():
                function = ctypes.cast(library._mlir_ciface_main, ctypes.c_void_p)
                taken = self.loop.time_calls(function, passed, calls)
                if taken < 0:
                    raise RuntimeError(f"a call of {name} failed")
                times[name].append(taken / calls)
        return {name: statistics.median(taken[1:]) for name, taken in times.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there")
    options = parser.parse_args()

    figures = []
    print(
        f"{'model':>10} {'variant':>18} {'tokens':>7} {'ns a call':>10} {'of empty':>9}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for model, tokens in itertools.product(MODELS, (0, 1)):
            timer = Timer(pathlib.Path(folder), model)
            times = timer.time(tokens, options.calls, options.rounds)
            for name, taken in times.items():
                figure = {"model": model, "variant": name, "tokens": tokens}
                figure |= {"ns": taken, "of_empty": taken / times["empty"]}
                figures.append(figure)
                print("{:>10} {:>18} {:7} {:10.1f} {:9.2f}".format(*figure.values()))
    if options.json:
        record.write(options.json, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
