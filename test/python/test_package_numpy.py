# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs on NumPy arrays."""

import gc

import ml_dtypes
import numpy as np
import pytest
import torch

import kvfuse
from kvfuse import _arrays
from kvfuse_testing.package import DIM, make_inputs, write_layer, written_by_eager

#: numpy() does not know these, so their bits travel.
NUMPY_TYPES = {
    torch.float8_e4m3fn: ml_dtypes.float8_e4m3fn,
    torch.float8_e5m2: ml_dtypes.float8_e5m2,
    torch.bfloat16: ml_dtypes.bfloat16,
}


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """An array over the tensor's memory, of the same strides."""
    if tensor.dtype not in NUMPY_TYPES:
        return tensor.numpy()
    bits = torch.uint8 if tensor.itemsize == 1 else torch.uint16
    return tensor.view(bits).numpy().view(NUMPY_TYPES[tensor.dtype])


@pytest.mark.parametrize("dtype", [*NUMPY_TYPES, torch.float16, torch.float32], ids=str)
def test_writes_what_eager_writes(dtype):
    compiled = kvfuse.compile(write_layer, make_inputs(dtype=dtype).arguments)
    inputs = make_inputs(dtype=dtype)
    compiled(*map(to_numpy, inputs.arguments))
    inputs.assert_same_bytes(written_by_eager(dtype=dtype))
    gc.collect()
    assert not _arrays._alive


def test_arrays_are_example_inputs_too():
    inputs = make_inputs()
    compiled = kvfuse.compile(write_layer, tuple(map(to_numpy, inputs.arguments)))
    compiled(*map(to_numpy, inputs.arguments))
    inputs.assert_same_bytes(written_by_eager())


def test_arrays_and_tensors_go_together():
    inputs = make_inputs()
    compiled = kvfuse.compile(write_layer, inputs.arguments)
    compiled(*inputs.arguments[:3], *map(to_numpy, inputs.arguments[3:]))
    inputs.assert_same_bytes(written_by_eager())


@pytest.fixture(scope="module")
def write():
    def write(cache, slots, rows):
        cache[slots] = rows

    inputs = torch.zeros(8, DIM), torch.arange(4), torch.zeros(4, DIM)
    return kvfuse.compile(write, inputs)


def make_arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A cache [8, D], slots [4] and rows [4, D]."""
    rows = np.arange(4 * DIM, dtype=np.float32).reshape(4, DIM)
    return np.zeros((8, DIM), np.float32), np.array([5, 0, 2, 7]), rows


def test_read_only_arrays_may_be_read_and_not_written(write):
    cache, slots, rows = make_arrays()
    slots.flags.writeable = rows.flags.writeable = False
    write(cache, slots, rows)
    assert np.array_equal(cache[slots], rows)

    cache.flags.writeable = False
    with pytest.raises(
        ValueError, match="'cache' is written in place, and is read-only"
    ):
        write(cache, slots, rows + 1)
    assert np.array_equal(cache[slots], rows)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda rows: rows[:, ::-1], ValueError, "'rows': expects strides"),
        (lambda rows: rows.astype(">f4"), TypeError, "'rows': no kernel takes .*>f4"),
        (lambda rows: rows.astype(object), TypeError, "'rows': no kernel takes"),
        (lambda rows: rows.astype(np.float64), TypeError, "'rows'.*float32.*float64"),
    ],
    ids=["negative stride", "byte order", "objects", "type"],
)
def test_arrays_that_no_kernel_takes(write, change, kind, message):
    cache, slots, rows = make_arrays()
    with pytest.raises(kind, match=message):
        write(cache, slots, change(rows))
    assert not cache.any()


def test_any_positive_strides(write):
    _, slots, rows = make_arrays()
    wide = np.zeros((8, 3, DIM, 2), np.float32)
    write(wide[:, 1, :, 0], slots, np.asfortranarray(rows))
    assert np.array_equal(wide[slots, 1, :, 0], rows)
    assert np.count_nonzero(wide) == np.count_nonzero(rows)


def test_a_program_that_is_compiled_in_part():
    def layer(cache, slots, rows):
        cache[slots] = rows
        return cache.sum(), cache

    example = torch.zeros(8, DIM), torch.arange(4), torch.zeros(4, DIM)
    compiled = kvfuse.compile(layer, example)
    cache, slots, rows = make_arrays()
    total, returned = compiled(cache, slots, rows)
    assert returned is cache and total == rows.sum()
    assert np.array_equal(cache[slots], rows)
    cache.flags.writeable = False
    with pytest.raises(
        ValueError, match="'cache' is written in place, and is read-only"
    ):
        compiled(cache, slots, rows)
