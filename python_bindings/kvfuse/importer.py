# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Torch programs as MLIR that `kvfuse-compile` reads, without torch-mlir.

The text is the Torch dialect in generic form, spelled as torch-mlir spells it: what
the operations of a chain mean is the compiler's knowledge, not the importer's. Every
operator, known to kvfuse or not, becomes one operation with its real operands, so
that order and uses are those of the program.
"""

import dataclasses

import torch

from .importer_function import FunctionImporter
from .importer_locations import GraphImportError
from .importer_program import read_exported, read_graph
from .importer_text import module_text

__all__ = ["GraphImportError", "Imported", "to_mlir"]


@dataclasses.dataclass(frozen=True)
class Imported:
    """A program as MLIR, and how to call the function that it has become.

    `text` has one function. `arguments` are the names of its arguments as the model
    code has them, `mutates` the numbers of those that the program changes.
    `results` has, for each result of the function, the number of the argument that
    it is after the call, or None for a result of its own: first `updates` new
    contents of mutated arguments, then what the program returns.

    `sources` says what each argument is: ("user", name of the placeholder),
    ("parameter" | "buffer" | "constant", qualified name) of an exported program, or
    ("attribute", name) of a graph's module. Constants in the graph are in the text.
    `program` is the graph that names in locations refer to: the program's own, or
    its functional form if it writes through views.
    """

    text: str
    arguments: tuple[str, ...]
    mutates: tuple[int, ...]
    results: tuple[int | None, ...]
    updates: int
    sources: tuple[tuple[str, str], ...]
    program: torch.fx.GraphModule


def to_mlir(
    program: torch.export.ExportedProgram | torch.fx.GraphModule,
    *,
    name: str = "main",
) -> Imported:
    """Imports a program as the function `name`.

    A `torch.fx.GraphModule` has example values in its nodes' `meta["val"]`, as
    make_fx, AOTAutograd and Inductor leave them. Raises GraphImportError, with the
    node and its line, for what cannot be imported.
    """
    is_exported = isinstance(program, torch.export.ExportedProgram)
    source = read_exported(program) if is_exported else read_graph(program)
    function = FunctionImporter(source)
    function.run()

    mutates = function.mutated
    updates = [function.value_of(source.inputs[number].node) for number in mutates]
    results: list[int | None] = list(mutates)
    values = list(updates)
    for output in source.outputs:
        number, value = function.argument_of(output), function.value_of(output)
        if number is None and value in updates:
            value = function.copy_of(value)
        results.append(number)
        values.append(value)
    return Imported(
        module_text(name, function.arguments, values, function.block),
        tuple(argument.name for argument in function.arguments),
        tuple(mutates),
        tuple(results),
        len(mutates),
        tuple((item.kind, item.target) for item in source.inputs),
        source.module,
    )
