# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""After a call with tensors alone, calls take a shorter way: the same holds there."""

import gc
import inspect
import sys
import threading
import weakref

import numpy as np
import pytest
import torch

import kvfuse
from kvfuse_testing.package import make_inputs, write_layer

DIM = 4


def write_rows(cache: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor) -> None:
    cache[slots] = rows


def write_and_return(
    cache: torch.Tensor, rows: torch.Tensor, slots: torch.Tensor
) -> torch.Tensor:
    cache[slots] = rows
    return cache


#: What is returned -> a write that returns it: results take another way.
WRITES = {"nothing": write_rows, "the cache": write_and_return}


def make_arguments() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.zeros(8, DIM), torch.randn(3, DIM), torch.tensor([5, 0, 2])


def check_layer(compiled: kvfuse.Compiled) -> None:
    """Calls of a compiled `write_layer` write what it writes, the first and others."""
    expected = make_inputs()
    write_layer(*expected.arguments)
    for _ in range(3):
        inputs = make_inputs()
        compiled(*inputs.arguments)
        inputs.assert_same_bytes(expected)


@pytest.fixture(scope="module")
def called():
    """A compiled write of rows that was called with tensors."""
    compiled = kvfuse.compile(write_rows, make_arguments())
    for _ in range(2):
        cache, rows, slots = make_arguments()
        compiled(cache, rows, slots)
        assert torch.equal(cache[slots], rows)
    return compiled


def test_it_has_the_signature_of_the_program(called):
    assert list(inspect.signature(called).parameters) == ["cache", "rows", "slots"]


def test_calls_keep_nothing_alive():
    compiled = kvfuse.compile(write_rows, make_arguments())
    arguments = make_arguments()
    before = [sys.getrefcount(argument) for argument in arguments]
    for _ in range(3):
        compiled(*arguments)
        compiled(arguments[0], slots=arguments[2], rows=arguments[1])
    assert [sys.getrefcount(argument) for argument in arguments] == before
    gone = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert gone() is None


def test_calls_on_several_threads(called):
    calls = [make_arguments() for _ in range(4)]

    def repeat(arguments):
        for _ in range(200):
            called(*arguments)

    threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for cache, rows, slots in calls:
        assert torch.equal(cache[slots], rows)


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


@pytest.mark.parametrize("by_position", [0, 1, 2])
def test_arguments_by_name(called, by_position):
    arguments = make_arguments()
    names = ("cache", "rows", "slots")
    by_name = dict(zip(names, arguments, strict=True))
    for name in names[:by_position]:
        del by_name[name]
    called(*arguments[:by_position], **dict(reversed(by_name.items())))
    cache, rows, slots = arguments
    assert torch.equal(cache[slots], rows)


@pytest.mark.parametrize(
    ("names", "match"),
    [(("rows", "slot"), "slot"), (("cache", "rows"), "cache"), (("rows",), "slots")],
)
def test_other_names(called, names, match):
    cache, *rest = make_arguments()
    with pytest.raises(TypeError, match=match):
        called(cache, **dict(zip(names, rest, strict=False)))
    assert not cache.any()


def test_errors_of_the_function_are_exceptions_of_their_kind(called):
    cache, rows, slots = make_arguments()
    with pytest.raises(ValueError, match=r"argument 1 \('rows'\)"):
        called(cache, rows[:, 1:], slots)
    assert not cache.any()
    slots[1] = 8
    with pytest.raises(IndexError, match="SX5"):
        called(cache, rows, slots)


#: What rows may be that kernels cannot read.
UNUSABLE = {
    "sparse": lambda rows: rows.to_sparse(),
    "mkldnn": lambda rows: rows.to_mkldnn(),
    "meta": lambda rows: rows.to("meta"),
    "quantized": lambda rows: torch.quantize_per_tensor(rows, 0.1, 0, torch.qint8),
}


@pytest.mark.parametrize("returned", WRITES)
@pytest.mark.parametrize("kind", UNUSABLE)
def test_tensors_without_memory(kind, returned):
    compiled = kvfuse.compile(WRITES[returned], make_arguments())
    for _ in range(2):
        cache, rows, slots = make_arguments()
        with pytest.raises(TypeError, match="argument 'rows'"):
            compiled(cache, UNUSABLE[kind](rows), slots)
        assert not cache.any()
        compiled(cache, rows, slots)
        assert torch.equal(cache[slots], rows)


def negative(tensor: torch.Tensor) -> torch.Tensor:
    """The negative of `tensor`, by a bit that only torch sees."""
    result = torch.complex(tensor, tensor).conj().imag
    assert result.is_neg()
    return result


@pytest.mark.parametrize("returned", WRITES)
def test_tensors_with_the_negative_bit(returned):
    compiled = kvfuse.compile(WRITES[returned], make_arguments())
    for _ in range(2):
        cache, rows, slots = make_arguments()
        with pytest.raises(ValueError, match="argument 'cache' is written in place"):
            compiled(negative(cache), rows, slots)
        compiled(cache, negative(rows), slots)
        assert torch.equal(cache[slots], -rows)
        compiled(cache, rows, slots)
        assert torch.equal(cache[slots], rows)


def test_the_negative_bit_inside_of_a_graph():
    def write(cache, rows, slots):
        cache[slots] = torch.complex(rows, rows).conj().imag

    compiled = kvfuse.compile(write, make_arguments())
    assert compiled.launches == 1
    cache, rows, slots = make_arguments()
    compiled(cache, rows, slots)
    assert torch.equal(cache[slots], -rows)


def test_the_negative_bit_of_inputs_of_a_graph():
    def write(cache, rows, slots, other):
        cache[slots] = rows
        return torch.fft.fft(other + rows[0]).real

    compiled = kvfuse.compile(write, (*make_arguments(), torch.ones(DIM)))
    cache, rows, slots = make_arguments()
    expected = torch.zeros_like(cache)
    result = write(expected, negative(rows), slots, torch.ones(DIM))
    given = compiled(cache, negative(rows), slots, torch.ones(DIM))
    assert torch.equal(given, result)
    assert torch.equal(cache, expected)


def test_strides_of_size_one_say_nothing():
    def write(cache, rows, slots):
        cache[:, slots // 4, slots % 4] = rows

    def make(stride):
        cache = torch.zeros(64).as_strided((1, 2, 4, DIM), (stride, 16, DIM, 1))
        rows = torch.randn(3 * DIM).as_strided((1, 3, DIM), (stride, DIM, 1))
        return cache, rows, torch.tensor([5, 0, 2])

    compiled = kvfuse.compile(write, make(32))
    for stride in (32, 1, 0, 7):
        cache, rows, slots = make(stride)
        compiled(cache, rows, slots)
        assert torch.equal(cache.view(-1, DIM)[slots], rows[0])
    assert compiled.counters()["fallback"] == 0


def test_temporaries_come_from_torch():
    compiled = kvfuse.compile(write_layer, make_inputs().arguments, fuse="off")
    check_layer(compiled)


def test_calls_between_operations_of_a_torch_graph(called):
    @torch.compile(backend="eager")
    def around(cache, rows, slots):
        called(cache, rows + 1, slots)
        return cache + 1

    cache, rows, slots = make_arguments()
    assert torch.equal(around(cache, rows, slots)[slots], rows + 1 + 1)


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
    ("count", "match"), [(2, "'slots'"), (4, "too many positional")]
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
    compiled = kvfuse.compile(write_and_return, make_arguments())
    for _ in range(3):
        cache, rows, slots = make_arguments()
        assert compiled(cache, rows, slots) is cache
        assert torch.equal(cache[slots], rows)


def test_programs_that_are_mlir_text():
    text = kvfuse.compile(write_layer, make_inputs().arguments).mlir("input")
    compiled = kvfuse.compile(text, mutates=(0, 1, 2))
    check_layer(compiled)
    inputs = make_inputs()
    with pytest.raises(TypeError, match="positional arguments only"):
        compiled(*inputs.arguments[:-1], slots=inputs.slots)
