# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call does: of MLIR text, and of torch programs that were compiled whole."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from . import _arrays

if TYPE_CHECKING:
    from ._frontend import Program

Functions = Mapping[str, Callable[..., Any]]

#: A GPU's function NAME comes with NAME_load, which loads its kernels on a device.
LOAD = "_load"
#: The function that torch programs are imported as.
_MAIN = "main"


class Call(Protocol):
    """Runs a program.

    function: the one compiled function that a call runs; raises if there is none.
    direct: what may be called instead with torch tensors in order, where autograd is not
        concerned; None: nothing.
    parameters: the names of these tensors; none if they are passed by position only.
    unfused: location and reason of sites that stayed in the program's graph.
    """

    direct: Callable[..., Any] | None
    parameters: tuple[str, ...]
    unfused: Sequence[tuple[str, str]]

    @property
    def function(self) -> Callable[..., Any]: ...

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any: ...


def make_call(
    program: Program, report: Mapping[str, Any], functions: Functions
) -> Call:
    """The call of a torch program of which `functions` were compiled."""
    has_calls = any("calls" in entry for entry in report["functions"])
    if not has_calls and _MAIN in functions:
        return WholeCall(program, functions[_MAIN])
    from ._graph_call import GraphCall
    from .rewrite_sites import Found

    return GraphCall(program, Found.of(report), functions)


def check_tensors(names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuses torch tensors that have no memory that a kernel could access, with a
    TypeError, and those whose autograd would have to know of what kernels write, with
    a RuntimeError."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, torch.Tensor):
            continue
        if value.layout is not torch.strided or value.is_quantized or value.is_meta:
            kind = f"{value.dtype}, {value.layout}, on {value.device}"
            raise TypeError(
                f"argument {name!r}: no kernel can access a tensor of {kind}"
            )
        if torch.is_grad_enabled() and value.requires_grad:
            raise RuntimeError(
                f"argument {name!r} requires grad, and fused writes have no backward: "
                "call this under torch.no_grad()"
            )


class TextCall:
    """The function of a program that was given as MLIR."""

    parameters: tuple[str, ...] = ()
    unfused: Sequence[tuple[str, str]] = ()

    def __init__(
        self, functions: Functions, mutates: tuple[int, ...] | Literal["auto"]
    ) -> None:
        self.functions, self.mutates = functions, mutates
        self.names = [name for name in functions if not name.endswith(LOAD)]
        self.direct = self._find()

    def _find(self) -> Callable[..., Any] | None:
        if len(self.names) == 1:
            return self.functions[self.names[0]]
        return self.functions.get(_MAIN)

    @property
    def function(self) -> Callable[..., Any]:
        if self.direct is None:
            raise ValueError(
                f"the program has the functions {', '.join(self.names) or 'none'}: call "
                "one of `functions`"
            )
        return self.direct

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        if kwargs:
            raise TypeError("functions of MLIR text take positional arguments only")
        names = [f"#{number}" for number in range(len(args))]
        check_tensors(names, args)
        written = [
            self.mutates == "auto" or number in self.mutates
            for number in range(len(args))
        ]
        return self.function(*map(_arrays.passable, args, names, written))


class WholeCall:
    """A torch program that is one compiled function; its results are its arguments."""

    unfused: Sequence[tuple[str, str]] = ()

    def __init__(self, program: Program, function: Callable[..., Any]) -> None:
        self.program, self.function = program, function
        self.names = program.imported.arguments
        self.written = [n in program.imported.mutates for n in range(len(self.names))]
        self.direct = self._find_direct() if program.takes_tensors else None
        self.parameters = tuple(program.signature.parameters)[: len(self.names)]

    def _find_direct(self) -> Callable[..., Any]:
        program = self.program
        returns_none = program.out_spec.is_leaf() and program.outputs == (None,)
        if program.guards.test_tensors is None and returns_none:
            return self.function
        return self._run

    def _run(self, *leaves: Any) -> Any:
        """A call with tensors alone, in the order of the function's arguments."""
        if self.program.guards.test_tensors is not None:
            if len(leaves) != len(self.names):
                return self(leaves, {})  # Binding them says what is wrong.
            self.program.guards.test_tensors(leaves)
        self.function(*leaves)
        return self._results(leaves)

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        program = self.program
        leaves = program.leaves(args, kwargs)
        if program.guards.test is not None:
            program.guards.test(leaves)
        values = program.select(leaves, program.arguments)
        check_tensors(self.names, values)
        self.function(*map(_arrays.passable, values, self.names, self.written))
        return self._results(leaves)

    def _results(self, leaves: Sequence[Any]) -> Any:
        return self.program.returned(self.program.select(leaves, self.program.outputs))
