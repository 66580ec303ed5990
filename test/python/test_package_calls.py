# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""After a call with tensors alone, calls take a shorter way: the same holds there."""

import numpy as np
import pytest
import torch

import kvfuse
from kvfuse_testing.package import make_inputs, write_layer

DIM = 4


def write_rows(cache: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    cache[slots] = rows


def make_arguments() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.zeros(8, DIM), torch.randn(3, DIM), torch.tensor([5, 0, 2])


@pytest.fixture(scope="module")
def called():
    """A compiled write of rows that was called with tensors."""
    compiled = kvfuse.compile(write_rows, make_arguments())
    for _ in range(2):
        cache, rows, slots = make_arguments()
        compiled(cache, rows, slots)
        assert torch.equal(cache[slots], rows)
    return compiled


def test_it_is_an_ordinary_object_still(called):
    assert isinstance(called, kvfuse.Compiled)
    assert type(called).__qualname__ == kvfuse.Compiled.__qualname__
    assert called.__doc__ == kvfuse.Compiled.__doc__


@pytest.mark.parametrize("number", [0, 1])
def test_tensors_that_require_grad_are_refused(called, number):
    arguments = list(make_arguments())
    arguments[number].requires_grad_()
    before = arguments[0].detach().clone()
    with pytest.raises(RuntimeError, match=r"'(cache|rows)' requires grad"):
        called(*arguments)
    assert torch.equal(arguments[0], before)
    with torch.no_grad():
        called(*arguments)
    assert torch.equal(arguments[0][arguments[2]], arguments[1])


def test_arguments_by_name(called):
    cache, rows, slots = make_arguments()
    called(cache, slots=slots, rows=rows)
    assert torch.equal(cache[slots], rows)


def test_tensors_of_other_classes(called):
    cache, rows, slots = make_arguments()
    called(torch.nn.Parameter(cache, requires_grad=False), rows, slots)
    assert torch.equal(cache[slots], rows)


def test_arrays(called):
    cache, rows, slots = (argument.numpy() for argument in make_arguments())
    called(cache, torch.from_numpy(rows), slots)
    assert np.array_equal(cache[slots], rows)
    cache.flags.writeable = False
    with pytest.raises(ValueError, match="'cache'.*read-only"):
        called(cache, torch.from_numpy(rows), slots)


@pytest.mark.parametrize(
    ("count", "match"), [(2, "'slots'"), (4, "takes 3 positional")]
)
def test_the_number_of_arguments(called, count, match):
    arguments = (*make_arguments(), torch.zeros(1))[:count]
    with pytest.raises(TypeError, match=match):
        called(*arguments)


def test_a_constant_may_be_left_out_or_given():
    def write(cache, rows, slots, k=2):
        cache[slots] = k * rows

    compiled = kvfuse.compile(write, make_arguments())
    for constant in ((), (), (2,)):
        cache, rows, slots = make_arguments()
        compiled(cache, rows, slots, *constant)
        assert torch.equal(cache[slots], 2 * rows)
    with pytest.raises(ValueError, match="k == 2"):
        compiled(cache, rows, slots, k=3)


def test_results_are_the_arguments():
    def write(cache, rows, slots):
        cache[slots] = rows
        return cache

    compiled = kvfuse.compile(write, make_arguments())
    for _ in range(3):
        cache, rows, slots = make_arguments()
        assert compiled(cache, rows, slots) is cache
        assert torch.equal(cache[slots], rows)


def test_programs_that_are_mlir_text():
    text = kvfuse.compile(write_layer, make_inputs().arguments).mlir("input")
    compiled = kvfuse.compile(text, mutates=(0, 1, 2))
    expected = make_inputs()
    write_layer(*expected.arguments)
    for _ in range(3):
        inputs = make_inputs()
        compiled(*inputs.arguments)
        inputs.assert_same_bytes(expected)
    with pytest.raises(TypeError, match="compiled"):
        compiled(*inputs.arguments[:-1], slots=inputs.slots)
