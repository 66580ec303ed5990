# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The field's entries as kv and arith IR: the files of test/Field/kv.

A file has one function with the name of its entry. Its arguments are the entry's,
by name, and what the program computes before the write in ways that kvfuse does
not look into: gathers, reductions, concatenations.
"""

import dataclasses
import pathlib
import re
from collections.abc import Callable

import torch

import torch_writes

from . import abi, field, torch_programs
from .compile import Compiler
from .torch_programs import Compiled

FOLDER = pathlib.Path(torch_writes.__file__).parent / "kv"
NAMES = [name for name in field.ENTRIES if (FOLDER / f"{name}.mlir").exists()]


def quantised(k: torch.Tensor) -> dict[str, torch.Tensor]:
    """int8 rows, scales and zero points."""
    k = k.transpose(1, 2)
    low, high = k.amin(-1, True), k.amax(-1, True)
    sc = ((high - low) / 255).clamp_min(1e-6)
    z = (-128 - low / sc).round().clamp(-128, 127)
    q = (k / sc + z).round().clamp(-128, 127)
    return {"q": q.to(torch.int8), "sc": sc, "z": z.to(torch.int8)}


#: What is computed before the write, from the entry's arguments by name.
COMPUTED: dict[str, Callable[[dict], dict]] = {
    "T8": lambda a: {"pg": a["tab"].long()[1 + (3 + torch.arange(5)) // field.PAGE]},
    "G5": lambda a: {"scb": a["sc"].view(torch.uint8)},
    "ET3": lambda a: quantised(a["k"]),
    "FI1": lambda a: {
        "pg": a["ind"][(a["ptr"][a["bi"]] + a["pos"] // field.PAGE).long()].long()
    },
    "KT2": lambda a: {"u": torch.cat([a["k"], a["v"]], dim=-1)},
    "SA2": lambda a: {"pg": a["pid"].gather(1, a["pos"][:, None] // field.PAGE)[:, 0]},
}


#: What is expected of entries in IR that are not as in torch: the importer sees
#: equal slices as one and a roll as an operation, IR has two slices and a copy.
EXPECTED = {
    "H2": {"reason": "cache-copied"},
    "SA2": {"launches": (2,), "reason": ""},
    "TT2": {"launches": (1, 1), "reason": "different-indices"},
}


def expected(entry: field.Entry) -> field.Entry:
    """The entry with the outcome that its IR should have."""
    return dataclasses.replace(entry, **EXPECTED.get(entry.name, {}))


def text(name: str) -> str:
    """The module of an entry."""
    return (FOLDER / f"{name}.mlir").read_text()


def argument_names(module: str) -> list[str]:
    """Names of the function's arguments."""
    signature = module.split("func.func", 1)[1].split("->", 1)[0]
    return re.findall(r"%(\w+): tensor", signature)


def compile_entry(compiler: Compiler, name: str, fuse: str) -> Compiled:
    """Compiles the function of an entry for the CPU."""
    return torch_programs.compile_text(compiler, text(name), f"--fuse={fuse}")


def eager_call(name: str, seed: int) -> tuple[dict, dict]:
    """Tensors by name: the arguments of an entry with what is computed from them,
    and the arguments as a call in torch eager leaves them."""
    entry = field.ENTRIES[name]
    names = [argument.name for argument in field.arguments(entry)]
    given = field.inputs(entry, seed)
    got = dict(zip(names, map(torch_programs.guarded, given), strict=True))
    got |= COMPUTED.get(name, lambda _: {})(got)
    want = [torch_programs.guarded(tensor) for tensor in given]
    returned = entry.function(*want)
    if field.export(name).updates[0] is None:
        # A function that returns a new cache: the compiled one wrote its first.
        want[0].copy_(returned)
    return got, dict(zip(names, want, strict=True))


def cache_names(name: str) -> list[str]:
    """The arguments of an entry that are caches."""
    entry = field.ENTRIES[name]
    arguments = field.arguments(entry)
    return [arguments[number].name for number in field.cache_numbers(entry)]


def differences(library: abi.Library, name: str, seed: int) -> list[str]:
    """Compares the caches that a call leaves with torch eager."""
    got, want = eager_call(name, seed)
    library.call(name, *(got[argument] for argument in argument_names(text(name))))
    return [
        f"argument {cache} differs"
        for cache in cache_names(name)
        if not torch.equal(
            torch_programs.storage(got[cache]), torch_programs.storage(want[cache])
        )
    ]


def call_arguments(name: str, seed: int) -> tuple[list, list]:
    """Arguments of the function of an entry, before a call and after it."""
    got, want = eager_call(name, seed)
    left = got | {cache: want[cache] for cache in cache_names(name)}
    arguments = argument_names(text(name))
    return [got[a] for a in arguments], [left[a] for a in arguments]
