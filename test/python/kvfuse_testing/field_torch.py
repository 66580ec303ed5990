# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The field's entries through the Torch door: what was fused, and the bytes."""

import dataclasses
import json
import re
import subprocess

import torch

from . import abi, field
from .compile import Compiler
from .torch_interpreter import Interpreter

#: Index arithmetic, which fusing takes into the write.
ARITHMETIC = re.compile(
    r"torch\.aten\.(floor_divide|div|remainder|add|sub|mul|arange|repeat|expand|"
    r"unsqueeze|where)\b|linalg\.broadcast|arith\.|kv\.apply"
)
REMARK = re.compile(r"remark: \[\w+\] ([\w-]+) \|")


@dataclasses.dataclass(frozen=True)
class Compiled:
    """What kvfuse-compile made of an entry.

    `launches` has the number of caches of each fused kernel, `reasons` the names
    of the refusals with repetitions, `error` the message if it stopped. `kernels`
    counts all kernels, those in front of a write too. `caller` is the rest of the
    module, None if all of it is in the library.
    """

    launches: tuple[int, ...]
    reasons: tuple[str, ...]
    kernels: int = 0
    error: str = ""
    caller: str | None = None
    library: abi.Library | None = None


def compile_text(
    compiler: Compiler, key: str, module: str, options: list[str]
) -> Compiled:
    """Compiles a module; `key` names its files."""
    stem = compiler.folder / key
    report, caller = stem.with_suffix(".json"), stem.with_suffix(".mlir")
    output = ["-", "--emit=kv", "-o", str(caller), f"--report={report}", "--remarks"]
    shown = compiler.run(*output, *options, text=module)
    messages = shown.stderr.decode()
    names = REMARK.findall(messages)
    reasons = tuple(sorted(reason for reason in names if reason != "fused"))
    if shown.returncode:
        return Compiled((), reasons, error=messages)
    functions = json.loads(report.read_text())["functions"]
    launches = [
        fused["destinations"] for function in functions for fused in function["fused"]
    ]
    left = caller.read_text()
    library = None
    if "module @kvfuse" in left:
        path = compiler.compile(module, "--emit=shared", "-O0", *options)
        library = abi.Library(path)
    # A module of known operations alone is compiled whole.
    whole = "!torch" not in left
    return Compiled(
        tuple(sorted(launches)),
        reasons,
        kernels=sum(function["launches"] for function in functions),
        caller=None if whole else generic(compiler, left),
        library=library,
    )


def compile_entry(
    compiler: Compiler, name: str, fuse: str = "on", output_type: str = "raw"
) -> Compiled:
    """Compiles an entry for the CPU, its caches declared mutated."""
    made = field.export(name, output_type)
    mutates = ",".join(map(str, made.mutated(field.ENTRIES[name])))
    options = ["--target=cpu", f"--fuse={fuse}", f"--mutates={mutates}"]
    return compile_text(compiler, f"{name}-{output_type}-{fuse}", made.text, options)


def generic(compiler: Compiler, text: str) -> str:
    """The module in generic form."""
    tool = compiler.path.with_name("kvfuse-opt")
    command = [
        str(tool),
        "--mlir-print-op-generic",
        "--allow-unregistered-dialect",
        "-",
    ]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode()


def run(compiled: Compiled, exported: field.Exported, tensors: list) -> list:
    """The function's results; caches that were written in place are results too."""
    if compiled.caller is not None:
        return Interpreter(compiled.caller, compiled.library).run("main", tensors)
    compiled.library.call("main", *tensors)
    # Results that are mutated arguments are not returned, and there are no others:
    # what a function returns without a declared mutation is its first cache.
    functional = all(number is None for number in exported.updates)
    return [
        tensors[0] if functional else None if number is None else tensors[number]
        for number in exported.updates
    ]


def arithmetic_left(compiled: Compiled) -> list[str]:
    """Index arithmetic that stands in front of a call of a fused write."""
    if compiled.caller is None:
        return []
    sources = Interpreter(compiled.caller, None).sources("main")
    return [
        source
        for source, kind in sources
        if ARITHMETIC.match(source) and re.search(r"i(32|64)>$", kind)
    ]


def differences(
    name: str, compiled: Compiled, seed: int, output_type: str = "raw"
) -> list[str]:
    """Compares a call with torch eager: one line for each difference."""
    entry, exported = field.ENTRIES[name], field.export(name, output_type)
    tensors = field.inputs(entry, seed)
    results = run(compiled, exported, tensors)
    eager = field.run_eager(entry, seed)
    lines, user = [], iter(eager.results)
    for place, (number, result) in enumerate(
        zip(exported.updates, results, strict=True)
    ):
        if number is not None:
            if not field.same_bytes(result, eager.inputs[number]):
                lines.append(f"seed {seed}: argument {number} differs")
        elif isinstance(result, torch.Tensor) and not field.same_bytes(
            result, next(user)
        ):
            lines.append(f"seed {seed}: result {place} differs")
    lines += other_bytes(entry, exported, tensors, eager.inputs, seed)
    if compiled.launches:
        lines += not_in_place(entry, exported, tensors, results)
    return lines


def other_bytes(entry, exported, tensors, expected, seed) -> list[str]:
    """Differences of arguments that nothing may write, and around all of them."""
    lines = []
    written = exported.mutated(entry)
    for number, (tensor, want) in enumerate(zip(tensors, expected, strict=True)):
        got, want = field.storage(tensor), field.storage(want)
        if number in written and entry.reason != "opaque-op":
            got, want = outside(got), outside(want)
        if not torch.equal(got, want):
            lines.append(f"seed {seed}: bytes of argument {number} differ")
    return lines


def outside(store: torch.Tensor) -> torch.Tensor:
    """The bytes before and after an argument."""
    return torch.cat([store[: field.GUARD], store[-field.GUARD :]])


def not_in_place(entry, exported, tensors, results) -> list[str]:
    """Caches of a fused entry whose new contents are in other memory."""
    caches = set(field.cache_numbers(entry)) & set(exported.mutated(entry))
    lines = []
    for number, result in zip(exported.updates, results, strict=True):
        number = 0 if number is None and isinstance(result, torch.Tensor) else number
        if number in caches and result.data_ptr() != tensors[number].data_ptr():
            lines.append(f"argument {number} was not written in place")
    return lines
