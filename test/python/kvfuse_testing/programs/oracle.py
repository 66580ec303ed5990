# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program does, in NumPy, from the rules of docs/semantics.md.

It shares no code with the compiler, and none with what prints programs.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from . import model
from .dtypes import TOKEN_TYPES
from .function import Function
from .stores import store
from .values import State, value


def run(
    function: Function,
    symbols: Mapping[str, int],
    values: Mapping[str, np.ndarray],
    flags: Mapping[str, bool],
    first: int = 0,
) -> State:
    """Runs the function on its arguments, which it does not change."""
    state = State(function.types, symbols, dict(values), dict(flags), first)
    _run(state, function.ops)
    return state


def _run(state: State, ops: Sequence[model.Op]) -> None:
    for op in ops:
        match op:
            case model.Write():
                for dest in op.destinations:
                    store(state, op, dest)
            case model.If():
                _branch(state, op)
            case model.For():
                _loop(state, op)
            case _:
                state.values[op.result] = value(state, op)


def _assign(state: State, name: str, source: str) -> None:
    """`name` is another name of the version `source`."""
    state.values[name] = state.values[source]
    state.named[name] = state.named_in(source)


def _branch(state: State, op: model.If) -> None:
    taken = bool(state.scalars[op.flag])
    _run(state, op.then if taken else op.otherwise)
    for result, then, otherwise in op.results:
        _assign(state, result, then if taken else otherwise)


def _loop(state: State, op: model.For) -> None:
    for _, inner, first, _ in op.carried:
        _assign(state, inner, first)
    for number in range(op.rounds):
        state.scalars[op.counter] = number
        _run(state, op.body)
        for _, inner, _, yielded in op.carried:
            _assign(state, inner, yielded)
    for result, inner, _, _ in op.carried:
        _assign(state, result, inner)


def run_indices(
    function: Function,
    symbols: Mapping[str, int],
    values: Mapping[str, np.ndarray],
) -> State:
    """Computes what follows from some of the index values and masks alone."""
    state = State(function.types, symbols, dict(values))
    for op in model.walk(function.ops):
        if isinstance(op, model.Write | model.If | model.For):
            continue
        known = all(name in state.values for name in model.operands(op))
        if known and function.types[op.result].dtype in TOKEN_TYPES:
            state.values[op.result] = value(state, op)
    return state
