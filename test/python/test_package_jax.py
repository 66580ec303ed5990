# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs on JAX arrays: donated caches are written in place."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import kvfuse
from kvfuse_testing.package import DIM, FP8, make_inputs, write_layer, written_by_eager
from test_package_numpy import to_numpy


def to_jax(tensors) -> list[jax.Array]:
    """Copies of tensors."""
    return [jnp.array(np.ascontiguousarray(to_numpy(x))) for x in tensors]


@pytest.fixture(scope="module")
def compiled():
    return kvfuse.compile(write_layer, make_inputs().arguments)


def assert_as_eager(caches) -> None:
    for cache, wanted in zip(caches, written_by_eager().arguments, strict=False):
        assert cache.tobytes() == to_numpy(wanted).tobytes()


def test_donated_caches_are_written_in_place(compiled):
    step = jax.jit(kvfuse.jax.function(compiled), donate_argnums=(0, 1, 2))
    arguments = to_jax(make_inputs().arguments)
    addresses = [x.unsafe_buffer_pointer() for x in arguments[:3]]
    caches = step(*arguments)
    assert [x.unsafe_buffer_pointer() for x in caches] == addresses
    assert all(x.is_deleted() for x in arguments[:3])
    assert_as_eager(map(np.asarray, caches))


@pytest.mark.parametrize("wrap", [jax.jit, lambda function: function], ids=["jit", ""])
def test_caches_that_are_kept_do_not_change(compiled, wrap):
    arguments = to_jax(make_inputs().arguments)
    before = [np.array(x) for x in arguments[:3]]
    caches = wrap(kvfuse.jax.function(compiled))(*arguments)
    assert_as_eager(map(np.asarray, caches))
    for kept, wanted in zip(arguments, before, strict=False):
        assert np.asarray(kept).tobytes() == wanted.tobytes()


def test_a_write_between_other_computations(compiled):
    """Two steps in one jitted function, the second on what the first returned."""
    write = kvfuse.jax.function(compiled)

    def steps(k_cache, v_cache, index_cache, k, v, index_k, slots):
        caches = write(k_cache, v_cache, index_cache, k * 0, v, index_k, slots)
        return write(*caches, k, v, index_k, slots)

    caches = jax.jit(steps, donate_argnums=(0, 1, 2))(*to_jax(make_inputs().arguments))
    assert_as_eager(map(np.asarray, caches))


def test_arguments_are_bound_as_the_model_names_them():
    def write(cache, slots, rows, *, twice=False):
        cache[slots] = rows

    inputs = torch.zeros(8, DIM, dtype=FP8), torch.arange(4), torch.zeros(4, DIM)
    inputs = inputs[0], inputs[1].int(), inputs[2].to(FP8)
    function = kvfuse.jax.function(kvfuse.compile(write, inputs))
    cache, slots, rows = to_jax((inputs[0], inputs[1], torch.ones(4, DIM).to(FP8)))
    (written,) = function(cache, rows=rows, slots=slots)
    assert np.asarray(written)[:4].tobytes() == np.asarray(rows).tobytes()
    with pytest.raises(ValueError, match="twice == False"):
        function(cache, slots, rows, twice=True)


def test_a_wrong_argument_is_named(compiled):
    arguments = to_jax(make_inputs().arguments)
    arguments[3] = arguments[3].astype(jnp.float32)
    with pytest.raises(jax.errors.JaxRuntimeError, match="'k'.*bfloat16.*float32"):
        jax.block_until_ready(kvfuse.jax.function(compiled)(*arguments))


def test_a_call_does_not_change_immutable_arrays(compiled):
    arguments = to_jax(make_inputs().arguments)
    with pytest.raises(TypeError, match="'k_cache'.*JAX arrays are immutable"):
        compiled(*arguments)


def test_programs_with_buffers_are_refused():
    class Cached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(8, DIM))

        def forward(self, slots, rows):
            self.cache[slots] = rows

    compiled = kvfuse.compile(Cached(), (torch.arange(4), torch.zeros(4, DIM)))
    with pytest.raises(ValueError, match="parameters or buffers"):
        kvfuse.jax.function(compiled)


def test_mlir_text_needs_numbers(compiled):
    arguments = to_jax(make_inputs().arguments)
    text = compiled.mlir("input")
    numbered = kvfuse.compile(text, mutates=(0, 1, 2))
    assert_as_eager(map(np.asarray, kvfuse.jax.function(numbered)(*arguments)))
    with pytest.raises(ValueError, match="compile with mutates"):
        kvfuse.jax.function(kvfuse.compile(text, mutates="auto"))
