# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Index tensors in the forms that programs have, fused and as a chain.

NumPy says, for each element of the values, at which coordinates of the cache it
belongs; policies are applied to those.
"""

import numpy as np
import pytest
import torch

from kvfuse_testing import abi
from kvfuse_testing.index_forms import FORMS, PAGE, PAGES, Form

#: The slots of each call; some are negative, and some of no page.
SLOTS = {
    "none": [],
    "one": [7],
    "edges": [0, PAGE - 1, PAGE, PAGES * PAGE - 1, 9],
    "negative": [2, -1, -PAGES * PAGE, 5],
    "beyond": [3, PAGES * PAGE, 6],
    "below": [3, -PAGES * PAGE - 1, 6],
    "far": [2**40 + 17, 1],
}


def write(form: Form, cache: np.ndarray, rows: np.ndarray, slots: np.ndarray):
    """Writes `rows` in bounds; returns whether any were out of bounds."""
    coords = np.broadcast_arrays(*form.coords(slots), form.active(slots), rows)
    *coords, active, rows = coords
    inside = np.array(active, dtype=bool)
    wrapped = []
    for coord, size in zip(coords, cache.shape, strict=True):
        coord = np.where(coord < 0, coord + size, coord)
        inside &= (coord >= 0) & (coord < size)
        wrapped.append(coord)
    cache[tuple(coord[inside] for coord in wrapped)] = rows[inside]
    return bool((active & ~inside).any())


#: Each form with all slots that it takes.
CASES = [
    (name, slots)
    for name, form in FORMS.items()
    for slots, values in SLOTS.items()
    if form.tokens is None or form.tokens == len(values)
]


@pytest.mark.parametrize("policy", ["trap", "skip"])
@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize(("name", "slots"), CASES)
def test_form(compiler, name, slots, fuse, policy):
    """The bytes that NumPy says, or an error."""
    form = FORMS[name]
    options = ("--target=cpu", "--emit=shared", f"--fuse={fuse}")
    library = abi.Library(compiler.compile(form.module(policy), *options))
    slot_values = np.array(SLOTS[slots], dtype=np.int64)
    rows = np.arange(1, np.prod(form.rows(len(slot_values))) + 1, dtype=np.float32)
    rows = rows.reshape(form.rows(len(slot_values)))
    cache = np.full(form.cache, -5, dtype=np.float32)
    expected = cache.copy()
    fails = write(form, expected, rows, slot_values) and policy == "trap"
    arguments = [torch.from_numpy(x) for x in (cache, rows, slot_values)]
    if fails:
        with pytest.raises(abi.KernelError, match="SX5"):
            library.call("main", *arguments)
    else:
        library.call("main", *arguments)
        np.testing.assert_array_equal(cache, expected)


@pytest.mark.parametrize("name", sorted(FORMS.keys() - {"ring", "selected"}))
def test_form_is_one_kernel(compiler, name):
    """What computes the indices is in the kernel: no tensor is made."""
    text = compiler.compile(
        FORMS[name].module("trap"), "--target=sm_90", "--emit=gpu", "--no-versioning"
    ).read_text()
    assert text.count("gpu.launch_func") == 1
    assert "memref.alloc" not in text
