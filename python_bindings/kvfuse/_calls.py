# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call does: of MLIR text, and of torch programs that were compiled whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol

from . import _arrays

if TYPE_CHECKING:
    from ._frontend import Program

Functions = Mapping[str, Callable[..., Any]]

#: The function that torch programs are imported as.
_MAIN = "main"

_requires_grad = attrgetter("requires_grad")


class Call(Protocol):
    """Runs a program.

    function: the one compiled function that a call runs; raises if there is none.
    direct, direct_types: what may be called instead with inputs of these types.
    unfused: location and reason of sites that stayed in the program's graph.
    """

    direct: Callable[..., Any]
    direct_types: frozenset[type]
    unfused: Sequence[tuple[str, str]]

    @property
    def function(self) -> Callable[..., Any]: ...

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any: ...


def make_call(
    program: Program, report: Mapping[str, Any], functions: Functions
) -> Call:
    """The call of a torch program of which `functions` were compiled."""
    calls = [call for entry in report["functions"] for call in entry.get("calls", [])]
    if not calls and _MAIN in functions:
        return WholeCall(program, functions[_MAIN])
    from ._graph_call import GraphCall

    return GraphCall(program, calls, functions)


def refuse_gradients(names: Sequence[str], values: Sequence[Any]) -> None:
    """RuntimeError where autograd would have to know of what kernels write."""
    import torch

    if not torch.is_grad_enabled():
        return
    for name, value in zip(names, values, strict=True):
        if isinstance(value, torch.Tensor) and value.requires_grad:
            raise RuntimeError(
                f"argument {name!r} requires grad, and fused writes have no backward: "
                "call this under torch.no_grad()"
            )


class TextCall:
    """The function of a program that was given as MLIR."""

    direct_types: frozenset[type] = frozenset()
    unfused: Sequence[tuple[str, str]] = ()

    def __init__(
        self, functions: Functions, mutates: tuple[int, ...] | Literal["auto"]
    ) -> None:
        self.functions, self.mutates = functions, mutates

    @property
    def function(self) -> Callable[..., Any]:
        names = [name for name in self.functions if not name.endswith("_load")]
        name = _MAIN if _MAIN in names else names[0] if len(names) == 1 else None
        if name is None:
            raise ValueError(
                f"the program has the functions {', '.join(names) or 'none'}: call one "
                "of `functions`"
            )
        return self.functions[name]

    def direct(self, *args: Any) -> Any:
        return self(args, {})

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if kwargs:
            raise TypeError("functions of MLIR text take positional arguments only")
        values = [
            _arrays.passable(
                value, f"#{number}", self.mutates == "auto" or number in self.mutates
            )
            for number, value in enumerate(args)
        ]
        return self.function(*values)


class WholeCall:
    """A torch program that is one compiled function; its results are its arguments."""

    unfused: Sequence[tuple[str, str]] = ()

    def __init__(self, program: Program, function: Callable[..., Any]) -> None:
        import torch

        self.program, self.function = program, function
        self.names = program.imported.arguments
        self.written = [n in program.imported.mutates for n in range(len(self.names))]
        self._is_grad_enabled = torch.is_grad_enabled
        self._returns = any(value is not None for value in program.outputs)
        self.direct_types: frozenset[type] = frozenset()
        if program.takes_tensors:
            self.direct_types = frozenset({torch.Tensor, torch.nn.Parameter})

    def direct(self, *leaves: Any) -> Any:
        """A call with tensors alone, in the order of the function's arguments."""
        if self._is_grad_enabled() and any(map(_requires_grad, leaves)):
            refuse_gradients(self.names, leaves)
        if self.program.guards.test is not None:
            if len(leaves) != len(self.names):
                return self(leaves, {})  # Binding them says what is wrong.
            self.program.guards.test(leaves)
        self.function(*leaves)
        return self._results(leaves) if self._returns else None

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        program = self.program
        leaves = program.leaves(args, kwargs)
        if program.guards.test is not None:
            program.guards.test(leaves)
        values = program.select(leaves, program.arguments)
        refuse_gradients(self.names, values)
        self.function(*map(_arrays.passable, values, self.names, self.written))
        return self._results(leaves)

    def _results(self, leaves: Sequence[Any]) -> Any:
        return self.program.returned(self.program.select(leaves, self.program.outputs))
