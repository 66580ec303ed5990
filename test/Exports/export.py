#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the layers of models.py with torch-mlir, in generic form.

    export.py                      writes the committed files beside this script
    export.py --check              makes them anew and compares; exit code 1 if stale
    export.py --out DIR NAME...    writes the named exports into DIR

Each layer gives two files: NAME.raw.mlir, the import as it comes from
torch.export, and NAME.torch.mlir, after torch-mlir's own simplifications.
"""

import argparse
import pathlib
import sys
import warnings

import torch
from torch_mlir import fx

import models

HERE = pathlib.Path(__file__).resolve().parent
OUTPUT_TYPES = ("raw", "torch")
HEADER = "// Made by test/Exports/export.py, do not edit.\n"


def quietly(function, *arguments, **options):
    """Calls a function of torch without a notice about torch's own internals."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        return function(*arguments, **options)


def program_text(program: torch.export.ExportedProgram, output_type: str) -> str:
    """An exported program as MLIR text; `output_type` is raw or torch."""
    module = quietly(fx.export_and_import, program, output_type=output_type)
    return module.operation.get_asm(print_generic_op_form=True)


def layer_text(spec: models.LayerSpec, output_type: str) -> str:
    """The module of one layer as MLIR text; `output_type` is raw or torch."""
    return program_text(quietly(models.export_layer, spec), output_type)


def export_files(names: list[str]) -> dict[str, str]:
    """File name -> content for the named layers."""
    files = {}
    for name in names:
        program = quietly(models.export_layer, models.COMMITTED[name])
        for output_type in OUTPUT_TYPES:
            text = program_text(program, output_type)
            files[f"{name}.{output_type}.mlir"] = HEADER + text
    return files


def stale_files(files: dict[str, str], directory: pathlib.Path) -> list[str]:
    """Names whose file in `directory` is missing, different or not wanted."""
    there = {path.name: path.read_text() for path in directory.glob("*.mlir")}
    names = sorted(there.keys() | files.keys())
    return [name for name in names if there.get(name) != files.get(name)]


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - models.COMMITTED.keys())
    if unknown:
        parser.error(f"unknown exports: {', '.join(unknown)}")
    if options.check and options.names:
        parser.error("--check compares all exports, without names")

    files = export_files(options.names or list(models.COMMITTED))
    if options.check:
        stale = stale_files(files, options.out)
        for name in stale:
            print(f"stale: {name}; run test/Exports/export.py", file=sys.stderr)
        return 1 if stale else 0
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.out / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
