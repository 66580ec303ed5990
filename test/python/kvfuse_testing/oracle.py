# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a layer's writes leave under each index policy, row by row.

Written from rules SX1 to SX6 alone; it shares no code with kvfuse and none with
torch's indexing.
"""

import dataclasses

import numpy as np
import torch

import models

from . import cases, layers


@dataclasses.dataclass(frozen=True)
class Policy:
    """negative: wrap, error or skip; reserved: a slot that is padding, or None.

    Rows outside the cache are skipped; where they trap the result of the whole
    call is not specified, and there is nothing to compute.
    """

    negative: str = "wrap"
    reserved: int | None = None


def padding(slot: int, policy: Policy) -> bool:
    """Is the token left out in every cache (SX4 skip, SX6)?"""
    return slot == policy.reserved or (policy.negative == "skip" and slot < 0)


def coordinate(value: int, size: int, policy: Policy) -> int | None:
    """The coordinate that `value` means in a dimension, None if outside."""
    if value < 0 and policy.negative != "error":
        value += size
    return value if 0 <= value < size else None


def row_index(
    spec: models.LayerSpec, shape: tuple[int, ...], slot: int, policy: Policy
) -> tuple | None:
    """Index of a slot's row [H, D] in a cache of shape `shape`, None if outside."""
    if spec.layout == "flat":
        row = coordinate(slot, shape[0], policy)
        return None if row is None else (row,)
    page_dim, offset_dim = (0, 2) if spec.layout == "hnd" else (0, 1)
    page = coordinate(slot // spec.page, shape[page_dim], policy)
    offset = coordinate(slot % spec.page, shape[offset_dim], policy)
    if page is None or offset is None:
        return None
    return (page, slice(None), offset) if spec.layout == "hnd" else (page, offset)


def write_layer(
    spec: models.LayerSpec, case: cases.Case, policy: Policy
) -> list[np.ndarray]:
    """The case's buffers after all writes; later tokens win over earlier ones."""
    arrays = case.make()
    tensors = layers.view_tensors(case, arrays)
    count = len(spec.order)
    for cache, rows in zip(tensors[:count], tensors[count : 2 * count], strict=True):
        for token, slot in enumerate(tensors[-1].tolist()):
            index = row_index(spec, tuple(cache.shape), slot, policy)
            if index is not None and not padding(slot, policy):
                store(cache[index], rows[token])
    return arrays


def store(place: torch.Tensor, row: torch.Tensor) -> None:
    """Converts one row [H, D] and copies it to `place`."""
    place.copy_(row.to(place.dtype))
