# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled writes on JAX arrays.

JAX arrays are immutable, so a write takes caches and returns new ones. Where the old
ones are donated to a jitted computation they share their memory, and the write is in
place; elsewhere XLA copies them first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax_tvm_ffi

if TYPE_CHECKING:
    from ._compiled import Compiled

_numbers = itertools.count()


def function(compiled: Compiled) -> Callable[..., tuple[jax.Array, ...]]:
    """`compiled` as a function of JAX arrays, to be jitted.

        write = kvfuse.jax.function(compiled)
        step = jax.jit(write, donate_argnums=(0, 1))
        k_cache, v_cache = step(k_cache, v_cache, k, v, slots)

    It takes the arguments of the program and returns the new contents of those that
    it mutates, in the order of the arguments. The program is compiled whole.
    """
    mutates = compiled.options.mutates
    if mutates == "auto":
        raise ValueError("JAX needs the numbers of the arguments: compile with mutates")
    program = compiled.program
    if program is not None and program.has_own_tensors:
        raise ValueError(
            "the program has parameters or buffers, which JAX cannot pass: give them "
            "to it as arguments"
        )

    name = f"kvfuse.{next(_numbers)}"
    jax_tvm_ffi.register_ffi_target(
        name,
        compiled.function,
        # The written caches are arguments and results in one: arguments will do.
        ["args"],
        platform="cpu" if compiled.target == "cpu" else "gpu",
        allow_cuda_graph=compiled.target != "cpu",
    )

    def call(*args: Any, **kwargs: Any) -> tuple[jax.Array, ...]:
        values = list(args)
        if program is not None:
            leaves = program.leaves(args, kwargs)
            if program.guards.test is not None:
                program.guards.test(leaves)
            values = program.select(leaves, program.arguments)
        arrays = [jax.numpy.asarray(value) for value in values]
        results = [
            jax.ShapeDtypeStruct(arrays[number].shape, arrays[number].dtype)
            for number in mutates
        ]
        aliases = {number: result for result, number in enumerate(mutates)}
        write = jax.ffi.ffi_call(name, results, input_output_aliases=aliases)
        return tuple(write(*arrays))

    return call
