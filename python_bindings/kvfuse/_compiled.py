# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from . import _calls, _driver, _explain, _library
from ._library import CompileError
from ._options import Options

if TYPE_CHECKING:
    import torch

    from ._calls import Call
    from ._frontend import Program

    class TensorCall:
        """src/TensorCall.cpp"""

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

        def _expect_tensors(
            self,
            direct: Callable[..., Any],
            handle: int,
            count: int,
            names: tuple[str, ...],
        ) -> None: ...
else:
    TensorCall = _library.tensor_call().TensorCall


class Compiled(TensorCall):
    """A program whose cache writes are fused kernels; it is called like the program.

    A call runs the program, its writes on the current stream of the arguments. Caches
    are written in place and never copied. It returns what the program returns: a
    mutated argument is returned as that very object. Arguments are torch tensors, or
    NumPy arrays where the target is the CPU. Wrong ones raise TypeError, ValueError or
    IndexError, and nothing is written before all are checked.

    target: "cpu", or a GPU such as "sm_90".
    options: what it was compiled with.
    program: the torch program; None if it was MLIR.
    report: what became of each write, as of docs/kvfuse-compile.md.
    functions: the compiled functions by name: `main` where the program was compiled
        whole, otherwise one for each group of writes. They are TVM-FFI functions.
    """

    def __init__(
        self, source: Program | str, options: Options, target: str, optimize: int
    ) -> None:
        self.target, self.options = target, options
        self.program = None if isinstance(source, str) else source
        if self.program:
            self.__signature__ = self.program.signature
        self._optimize = optimize
        self._text = source if isinstance(source, str) else source.imported.text
        output, functions = self._compile()
        self.report: dict[str, Any] = output.report
        self._branch_counts = functions.pop("branch_counts", None)
        self.functions: Mapping[str, Callable[..., Any]] = MappingProxyType(functions)
        self._call = self._make_call(source)

    def _make_call(self, source: Program | str) -> Call:
        if isinstance(source, str):
            return _calls.TextCall(self.functions, self.options.mutates)
        return _calls.make_call(source, self.report, self.functions)

    def _compile(self) -> tuple[_driver.Output, dict[str, Callable[..., Any]]]:
        """What was compiled, and its functions: none if no write could be."""
        try:
            output = self._emit("obj")
        except CompileError:
            # A program without a write that can be compiled stays what it is.
            output = self._emit("kv")
            if output.report["kernels"] or self.options.fuse == "required":
                raise
            return output, {}
        return output, dict(_driver.load(output.data))

    def _emit(self, emit: str) -> _driver.Output:
        return _driver.compile(
            self._text,
            target=self.target,
            emit=emit,
            options=self.options,
            optimize=self._optimize,
        )

    def _call_otherwise(self, *args: Any, **kwargs: Any) -> Any:
        """Any call. One with tensors alone makes later ones like it cheap."""
        result = self._call(args, kwargs)
        torch = sys.modules.get("torch")
        direct = self._call.direct
        types = {*map(type, args), *map(type, kwargs.values())}
        if torch and direct and types == {torch.Tensor}:
            # Functions of Python have none.
            handle = getattr(direct, "__chandle__", int)()
            names = self._call.parameters
            self._expect_tensors(direct, handle, len(names) or len(args), names)
        return result

    @property
    def function(self) -> Callable[..., Any]:
        """The TVM-FFI function of a program that was compiled whole.

        It takes the tensors of the program in order and nothing else.
        """
        return self._call.function

    @property
    def launches(self) -> int:
        """Kernel launches of the writes in each call, by their fused versions."""
        return sum(function["launches"] for function in self.report["functions"])

    @property
    def launches_unfused(self) -> int:
        """Kernel launches of the same writes as chains of operations."""
        functions = self.report["functions"]
        return sum(function["launches_unfused"] for function in functions)

    @property
    def ptx(self) -> str:
        """The PTX of the kernels; ValueError if the target is the CPU."""
        if self.target == "cpu":
            raise ValueError("the target is the CPU: compile with target='sm_90'")
        return self.mlir("ptx")

    def mlir(self, stage: str = "kv") -> str:
        """The program at a stage of its compilation.

        "input": as it was imported. "kv": the fused operations, on buffers. "gpu":
        kernels and launches. "nvvm", "ptx": the kernels for a GPU. "llvm": host code.
        """
        if stage == "input":
            return self._text
        return self._emit(stage).data.decode()

    def explain(self) -> str:
        """A readable account: what was fused and what was not, why, and where."""
        text = _explain.explain(self.report, self.target)
        kept = [f"  {place}: {reason}" for place, reason in self._call.unfused]
        return "\n".join(
            [text, "left in the graph as it was:", *kept] if kept else [text]
        )

    def counters(self) -> dict[str, Any]:
        """How often each site ran since it was compiled, and in which version.

        {"calls": n, "fused": n, "fallback": n, "sites": [...]}. Each site has its
        "function" and "location", "calls", "fused" by version of the kernel,
        "fallback", where caches were written one after the other, and "why": the
        guards of which one did not hold then.
        """
        if self._branch_counts is None:
            if self.options.count_branches:
                return _explain.count_by_site({**self.report, "branches": []}, [])
            raise ValueError("compile with count_branches=True to count")
        return _explain.count_by_site(self.report, list(self._branch_counts()))

    def load(self, device: torch.device | str | int | None = None) -> None:
        """Loads the kernels on a CUDA device, so that a capture needs nothing.

        device: a number, or a torch device; None: the current one. `compile` does it
        for the device of its example inputs; the first call on any other device does
        it too. Nothing is to be loaded for the CPU.
        """
        if self.target == "cpu":
            return
        number = device if isinstance(device, int) else _device_number(device)
        for name, function in self.functions.items():
            if name.endswith(_calls.LOAD):
                function(number)


def _device_number(device: torch.device | str | None) -> int:
    import torch

    index = torch.device("cuda" if device is None else device).index
    return torch.cuda.current_device() if index is None else index
