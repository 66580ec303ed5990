# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One layer's cache writes as model code spells them, parametrised.

Sizes: T tokens, B pages, P page size, H KV heads, D head dimension, S = B * P
slots. Caches are [B, H, P, D] (hnd), [B, P, H, D] (nhd) or [S, H, D] (flat);
rows are [T, H, D]; slots are [T].
"""

import dataclasses

import torch

DTYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "e4m3fn": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "i32": torch.int32,
    "i64": torch.int64,
}

EXPORT_TOKENS = 6
EXPORT_PAGES = 8


@dataclasses.dataclass(frozen=True)
class LayerSpec:
    """What the writes of one layer look like.

    `order` names the writes in program order: k and v write caches of type
    `cache` with `heads` heads, i (index-K) writes a bf16 cache with one head.
    `between` is an operation on V's rows that runs after the first write.
    """

    layout: str = "hnd"
    cache: str = "e4m3fn"
    values: str = "bf16"
    slots: str = "i64"
    heads: int = 4
    head_dim: int = 128
    page: int = 32
    order: str = "kvi"
    shared_arithmetic: bool = False
    division: str = "floor"
    accumulate: bool = False
    between: str = ""

    @property
    def writes(self) -> list[str]:
        """The writes in the order of the arguments: k, v, i."""
        return sorted(self.order, key="kvi".index)

    def write_heads(self, write: str) -> int:
        """Number of heads of write k, v or i."""
        return 1 if write == "i" else self.heads

    def write_dtype(self, write: str) -> str:
        """Element type of the cache of write k, v or i."""
        return "bf16" if write == "i" else self.cache

    def cache_shape(self, write: str, pages: int) -> tuple[int, ...]:
        """Logical shape of the cache of write k, v or i."""
        heads = self.write_heads(write)
        return {
            "hnd": (pages, heads, self.page, self.head_dim),
            "nhd": (pages, self.page, heads, self.head_dim),
            "flat": (pages * self.page, heads, self.head_dim),
        }[self.layout]


def page_and_offset(
    slots: torch.Tensor, page_size: int, division: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Page and offset inside the page of each slot, both [T]."""
    slots = slots.to(torch.int64)
    if division == "trunc":
        return torch.div(slots, page_size, rounding_mode="trunc"), slots % page_size
    return slots // page_size, slots % page_size


def write_rows(
    layout: str,
    cache: torch.Tensor,
    place: tuple[torch.Tensor, ...],
    rows: torch.Tensor,
    accumulate: bool,
) -> None:
    """Writes rows [T, H, D] into `cache` at `place`: (page, offset) or (slot,)."""
    rows = rows.to(cache.dtype)
    if accumulate:
        indices = [place[0], None, place[1]] if layout == "hnd" else list(place)
        torch.ops.aten.index_put_(cache, indices, rows, True)
    elif layout == "hnd":
        page, offset = place
        cache[page, :, offset, :] = rows
    elif layout == "nhd":
        page, offset = place
        cache[page, offset] = rows
    else:
        (slot,) = place
        cache[slot] = rows


class Layer(torch.nn.Module):
    """The cache writes of one layer: caches and rows in the order k, v, i."""

    def __init__(self, spec: LayerSpec) -> None:
        super().__init__()
        self.spec = spec

    def place(self, slots: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Where each token goes: (page, offset), or (slot,) in a flat cache."""
        if self.spec.layout == "flat":
            return (slots,)
        return page_and_offset(slots, self.spec.page, self.spec.division)

    def forward(
        self,
        caches: tuple[torch.Tensor, ...],
        rows: tuple[torch.Tensor, ...],
        slots: torch.Tensor,
    ) -> None:
        spec = self.spec
        shared = self.place(slots) if spec.shared_arithmetic else None
        for position, write in enumerate(spec.order):
            number = spec.writes.index(write)
            row = rows[number]
            if position == 1 and spec.between == "silu":
                row = torch.nn.functional.silu(row)
            place = self.place(slots) if shared is None else shared
            write_rows(spec.layout, caches[number], place, row, spec.accumulate)


def example_arguments(spec: LayerSpec) -> tuple:
    """Zero tensors of the shapes that `Layer.forward` takes."""
    caches = tuple(
        torch.zeros(spec.cache_shape(w, EXPORT_PAGES)).to(DTYPES[spec.write_dtype(w)])
        for w in spec.writes
    )
    rows = tuple(
        torch.zeros(
            EXPORT_TOKENS,
            spec.write_heads(w),
            spec.head_dim,
            dtype=DTYPES[spec.values],
        )
        for w in spec.writes
    )
    return caches, rows, torch.zeros(EXPORT_TOKENS, dtype=DTYPES[spec.slots])


def export_layer(spec: LayerSpec) -> torch.export.ExportedProgram:
    """torch.export of one layer; T and the number of pages (slots) are dynamic."""
    tokens = {0: torch.export.Dim("tokens")}
    pages = {0: torch.export.Dim("pages")}
    count = len(spec.order)
    shapes = ((pages,) * count, (tokens,) * count, tokens)
    return torch.export.export(
        Layer(spec), example_arguments(spec), dynamic_shapes=shapes
    )


#: The committed exports: file stem -> spec.
COMMITTED: dict[str, LayerSpec] = {
    # The MiniMax-M3-like sparse layer: each write computes its own place.
    "hnd_layer_e4m3fn": LayerSpec(slots="i32"),
    "hnd_layer_e4m3fn_shared": LayerSpec(slots="i32", shared_arithmetic=True),
    "hnd_layer_e4m3fn_ikv": LayerSpec(order="ikv"),
    "hnd_layer_e4m3fn_vik": LayerSpec(order="vik", shared_arithmetic=True),
    "hnd_kv_bf16": LayerSpec(cache="bf16", order="kv", heads=8),
    "hnd_kv_f16_from_f32": LayerSpec(cache="f16", values="f32", order="kv"),
    "hnd_layer_e5m2_from_f16": LayerSpec(cache="e5m2", values="f16", heads=1),
    "nhd_layer_e4m3fn": LayerSpec(layout="nhd"),
    "nhd_layer_bf16_from_f32": LayerSpec(
        layout="nhd", cache="bf16", values="f32", slots="i32", heads=8
    ),
    "nhd_kv_e5m2_shared": LayerSpec(
        layout="nhd", cache="e5m2", order="kv", shared_arithmetic=True
    ),
    "flat_kv_e4m3fn": LayerSpec(layout="flat", order="kv"),
    "flat_kv_bf16_i32": LayerSpec(layout="flat", cache="bf16", slots="i32", order="kv"),
    "hnd_k_page3": LayerSpec(order="k", page=3, heads=2, head_dim=7),
    "hnd_layer_trunc_division": LayerSpec(division="trunc"),
    "nhd_kv_trunc_division": LayerSpec(
        layout="nhd", cache="bf16", order="kv", division="trunc"
    ),
    "hnd_kv_accumulate": LayerSpec(cache="bf16", order="kv", accumulate=True),
    "hnd_layer_silu_between": LayerSpec(between="silu"),
}
