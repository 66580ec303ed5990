# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of one layer's writes, as torch tensors, and what torch eager makes of them."""

from collections.abc import Sequence

import numpy as np
import torch

import models

from . import cases

#: How caches lie in memory -> elements of padding behind each row of values: pools
#: have vectors where head dimensions have, the others do not.
STORAGES = {"interleaved": 16, "padded": 5, "permuted": 5}


def layer_case(
    spec: models.LayerSpec,
    storage: str,
    pages: int,
    slots: Sequence[int],
    seed: int,
) -> cases.Case:
    """Arguments of `models.Layer`: caches, rows and slots, in this order."""
    builder = cases.CaseBuilder(seed)
    writes = spec.writes
    shapes = {w: spec.cache_shape(w, pages) for w in writes}
    casts = {w: spec.write_dtype(w) != spec.values for w in writes}
    if storage == "interleaved":
        pooled = [w for w in writes if w != "i"]
        builder.interleaved(spec.cache, [shapes[w] for w in pooled], casts[writes[0]])
        if "i" in writes:
            builder.interleaved("bf16", [shapes["i"]], casts["i"])
    else:
        place = builder.padded if storage == "padded" else builder.permuted
        for write in writes:
            place(spec.write_dtype(write), shapes[write], casts[write])
    heads = [spec.write_heads(w) for w in writes]
    gap = STORAGES[storage]
    builder.packed_rows(spec.values, len(slots), heads, spec.head_dim, gap)
    builder.slots(spec.slots, slots, 2 if storage == "padded" else 1)
    return builder.build()


def view_tensors(case: cases.Case, arrays: list[np.ndarray]) -> list[torch.Tensor]:
    """One tensor for each view of the case; they share memory with `arrays`."""
    return [
        torch.from_numpy(arrays[view.buffer].view(np.uint8))
        .view(models.DTYPES[case.buffers[view.buffer].dtype])
        .as_strided(view.sizes, view.strides, view.offset)
        for view in case.views
    ]


def run_eager(spec: models.LayerSpec, case: cases.Case) -> list[np.ndarray]:
    """The case's buffers after torch eager ran the layer on the CPU."""
    arrays = case.make()
    tensors = view_tensors(case, arrays)
    count = len(spec.order)
    models.Layer(spec)(tensors[:count], tensors[count : 2 * count], tensors[-1])
    return arrays


def differences(
    case: cases.Case, actual: list[np.ndarray], expected: list[np.ndarray]
) -> list[str]:
    """One line for each buffer whose cells differ, counting rule SC6."""
    lines = []
    for number, buffer in enumerate(case.buffers):
        got = buffer.comparable(actual[number])
        want = buffer.comparable(expected[number])
        wrong = np.flatnonzero(got != want)
        if wrong.size:
            first = int(wrong[0])
            lines.append(
                f"buffer {number} ({buffer.dtype}, {buffer.count} elements): "
                f"{wrong.size} differ, first at {first}: "
                f"{int(got[first]):#x} instead of {int(want[first]):#x}"
            )
    return lines
