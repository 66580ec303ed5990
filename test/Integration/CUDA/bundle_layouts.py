# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layout matrix in the bundle.

Host code does not run on the machine with the GPU: of the kernels of a function
the one is launched that the guards have to choose. The sample has every layout
with every pair of types and every head dimension, at one page size each, such that
every two values of two axes meet; and each of these with all heads and offsets.
"""

import collections
import itertools
from collections.abc import Iterator

import launcher
from kvfuse_testing.layouts import branches, model, oracle, run, text
from kvfuse_testing.layouts.covering import covering_sample, pairs
from kvfuse_testing.layouts.model import Cell
from kvfuse_testing.layouts.storage import Call, Storage
from versions import pick_by_tokens

#: The axes that make a function; the others are heads and offsets.
FUNCTION_AXES, CALL_AXES = model.AXES[:4], model.AXES[4:]


def sample() -> list[Cell]:
    """The cells of the bundle, unless it has the whole matrix."""
    groups = [(0, 1, 2), *pairs(FUNCTION_AXES)]
    functions = covering_sample(FUNCTION_AXES, groups)
    return [
        Cell(*function, *rest)
        for function in functions
        for rest in itertools.product(*CALL_AXES)
    ]


def kernel_views(kernel: dict, cell: Cell, call: Call) -> Iterator[int]:
    """The views that the kernel takes; it takes the slices of a base in order."""
    slices = itertools.count()
    for argument in kernel["arguments"]:
        number = argument if isinstance(argument, int) else argument["part_of"]
        is_base = cell.facts.base and number == 0
        yield next(slices) if is_base else call.arguments[number]


def launch(kernel: dict, cell: Cell, call: Call) -> dict:
    """The launch of a cell's kernel."""
    heads = [cell.member_heads(member) or 1 for member in cell.facts.members]
    dims = [cell.member_dim(member) for member in cell.facts.members]
    elements = sum(h * d for h, d in zip(heads, dims, strict=True))
    return {
        "kernel": kernel["name"],
        "branch": kernel["branch"],
        **launcher.launch_shape(kernel, call.slots.sizes[0], elements),
        "arguments": list(kernel_views(kernel, cell, call)),
    }


def add_layout(bundle, layout: str, cells: list[Cell]) -> None:
    """The cells of one layout, their kernels in one image."""
    image = f"layout-{layout}.ptx"
    module = text.module_text(run.signatures(cells))
    kernels = collections.defaultdict(list)
    for kernel in bundle.image(image, module, "ptx"):
        kernels[kernel["function"], kernel["branch"]].append(kernel)
    for cell in cells:
        call = Storage(cell).call()
        branch = branches.expected_branch(cell, call)
        tokens = call.slots.sizes[0]
        kernel = pick_by_tokens(kernels[cell.signature.name, branch], tokens)
        name = f"{image}-{cell.name}-{branch.replace(' ', '-')}"
        expected = oracle.expected(cell, call)
        bundle.add(name, image, call.case, [launch(kernel, cell, call)], expected)


def add_layouts(bundle, cells: list[Cell]) -> None:
    """The cells, by layout."""
    for layout in model.LAYOUTS:
        add_layout(bundle, layout, [c for c in cells if c.layout == layout])
