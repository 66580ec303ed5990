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

from .compile import Compiler

_ARGUMENT_NAME = re.compile(r' \{kv\.name = "[^"]*"\}')


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The kv IR without names of arguments, the report's functions without
    locations, and the message of a failure."""

    text: str
    functions: list[dict]
    error: str = ""


def compile_kv(
    compiler: Compiler, text: str, mutates: Sequence[int], *options: str
) -> Outcome:
    """Compiles a module for the CPU up to the fused operations."""
    report = compiler.folder / f"{uuid.uuid4()}.report"
    done = compiler.run(
        *("-", "--emit=kv", "--target=cpu", "-o", "-", f"--report={report}"),
        f"--mutates={','.join(map(str, mutates))}",
        *options,
        text=text,
    )
    if done.returncode:
        return Outcome("", [], done.stderr.decode())
    functions = json.loads(report.read_text())["functions"]
    for function in functions:
        # Values are named by their locations.
        function.pop("calls", None)
        for entry in (*function["fused"], *function["refused"]):
            entry.pop("location", None)
    return Outcome(_ARGUMENT_NAME.sub("", done.stdout.decode()), functions)


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


def torch_mlir_text(program: torch.export.ExportedProgram) -> str:
    """What torch-mlir makes of an exported program."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        module = fx.export_and_import(program, output_type="raw")
    return module.operation.get_asm(print_generic_op_form=True)
