# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in the model code a node comes from."""

import functools
import pathlib
import re
from collections.abc import Sequence

import torch

from .importer_text import quote

_FRAME = re.compile(r'File "([^"]*)", line (\d+)')
_TORCH = pathlib.Path(torch.__file__).parent


@functools.lru_cache
def _is_model_code(path: str) -> bool:
    """Torch's own frames stand between the model and the operation; torch shortens
    the paths of some."""
    inside = _TORCH in pathlib.Path(path).parents
    return not inside and not path.startswith(("torch/", "<"))


@functools.lru_cache
def _innermost(stack_trace: str) -> tuple[str, int] | None:
    # Many nodes come from one line.
    for path, line in reversed(_FRAME.findall(stack_trace)):
        if _is_model_code(path):
            return path, int(line)
    return None


def source_line(node: torch.fx.Node) -> tuple[str, int] | None:
    """File and line of the innermost frame of model code, if torch has kept it."""
    return _innermost(node.meta.get("stack_trace") or "")


def _named(name: str, node: torch.fx.Node) -> str:
    line = source_line(node)
    if line is None:
        return quote(name)
    return f"{quote(name)}({quote(line[0])}:{line[1]}:0)"


def name_location(name: str, node: torch.fx.Node) -> str:
    """`loc("name"("model.py":12:0))`, or `loc("name")` where no line is known."""
    return f"loc({_named(name, node)})"


def results_location(names: Sequence[str], node: torch.fx.Node) -> str:
    """The location of an operation whose results have names of their own."""
    if not names:
        return node_location(node)
    if len(names) == 1:
        return name_location(names[0], node)
    return f"loc(fused[{', '.join(_named(name, node) for name in names)}])"


def node_location(node: torch.fx.Node) -> str:
    """The location of what the importer makes of `node`: its name, and its line."""
    return name_location(node.name, node)


class GraphImportError(Exception):
    """A graph that cannot be imported: says which node, and on which line."""

    def __init__(self, node: torch.fx.Node, problem: str) -> None:
        line = source_line(node)
        place = f"{line[0]}:{line[1]}: " if line else ""
        super().__init__(f"{place}node '{node.name}' ({node.target}): {problem}")
        self.node = node
        self.line = line
