# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler makes of imported programs, to compare two importers."""

import dataclasses
import json
import re
import uuid
import warnings
from collections.abc import Sequence

import torch
from torch_mlir import fx

from kvfuse import importer

from . import torch_programs
from .compile import Compiler

#: What torch-mlir does not say.
_MARKS = re.compile(r' \{kv\.name = "[^"]*"\}| \{kv\.new_results\}')


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The kv IR without names of arguments, the report's functions without
    locations, and the message of a failure."""

    text: str
    functions: list[dict]
    error: str = ""


def _report(
    compiler: Compiler, text: str, mutates: Sequence[int], *options: str
) -> tuple[str, list[dict], str]:
    """The kv IR, the report's functions and the messages."""
    report = compiler.folder / f"{uuid.uuid4()}.report"
    done = compiler.run(
        *("-", "--emit=kv", "--target=cpu", "-o", "-", f"--report={report}"),
        f"--mutates={','.join(map(str, mutates))}",
        *options,
        text=text,
    )
    if done.returncode:
        return "", [], done.stderr.decode()
    functions = json.loads(report.read_text())["functions"]
    return done.stdout.decode(), functions, ""


def compile_kv(
    compiler: Compiler, text: str, mutates: Sequence[int], *options: str
) -> Outcome:
    """Compiles a module for the CPU up to the fused operations."""
    shown, functions, error = _report(compiler, text, mutates, *options)
    for function in functions:
        # Values are named by their locations.
        function.pop("calls", None)
        for entry in (*function["fused"], *function["refused"]):
            entry.pop("location", None)
    return Outcome(_MARKS.sub("", shown), functions, error)


def report_calls(compiler: Compiler, text: str, mutates: Sequence[int]) -> list[dict]:
    """What the report says of the calls of a function that is not compiled whole."""
    _, (function,), _ = _report(compiler, text, mutates)
    return function["calls"]


def counts(outcome: Outcome) -> list[tuple]:
    """What is fused and refused in each function, and its launches."""
    return [
        (
            function["name"],
            [site["destinations"] for site in function["fused"]],
            sorted(site["reason"] for site in function["refused"]),
            function["launches"],
            function["launches_unfused"],
        )
        for function in outcome.functions
    ]


def as_exported(imported: importer.Imported) -> torch_programs.Exported:
    """An imported program as one through torch-mlir."""
    own = len(imported.results) - imported.updates
    updates = imported.results[: imported.updates] + (None,) * own
    return torch_programs.Exported(imported.text, updates)


def torch_mlir_text(program: torch.export.ExportedProgram) -> str:
    """What torch-mlir makes of an exported program."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        module = fx.export_and_import(program, output_type="raw")
    return module.operation.get_asm(print_generic_op_form=True)
