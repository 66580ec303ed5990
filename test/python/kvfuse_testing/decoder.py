# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small decoder over paged K/V caches, as a serving engine's model code has it.

Shapes: T new tokens, H query heads, G heads of K and V, D elements of a head,
B pages of S tokens. Caches are [B, G, S, D] ("HND") or [B, S, G, D] ("NHD").
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class Shape:
    """Sizes of the decoder, in elements; `pages` of `page_size` tokens a cache."""

    layers: int = 2
    hidden: int = 32
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 16
    vocabulary: int = 61
    pages: int = 7
    page_size: int = 8
    table: int = 2
    """Pages of one sequence."""


@dataclasses.dataclass
class Caches:
    """K and V of each layer, and what they are views of."""

    keys: list[torch.Tensor]
    values: list[torch.Tensor]
    buffers: list[torch.Tensor]

    def bytes(self) -> list[torch.Tensor]:
        """All that is in memory, as uint8."""
        return [buffer.view(torch.uint8) for buffer in self.buffers]


def make_caches(
    shape: Shape, dtype: torch.dtype, layout: str, pooled: bool, device: str = "cpu"
) -> Caches:
    """Caches full of a pattern; with `pooled`, K and V of a layer are views of one
    [B, 2, ...] buffer."""
    row = [shape.kv_heads, shape.page_size, shape.head_dim]
    if layout == "NHD":
        row[0], row[1] = row[1], row[0]
    caches = Caches([], [], [])
    for layer in range(shape.layers):
        sizes = [shape.pages, 2, *row] if pooled else [2, shape.pages, *row]
        count = torch.Size(sizes).numel()
        pattern = (torch.arange(count, device=device) % 7 + layer) / 4
        both = pattern.reshape(sizes).to(dtype)
        if pooled:
            caches.buffers.append(both)
            keys, values = both.unbind(1)
        else:
            keys, values = (half.clone() for half in both.unbind(0))
            caches.buffers += [keys, values]
        caches.keys.append(keys)
        caches.values.append(values)
    return caches


def write_rows(
    cache: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor, layout: str
) -> None:
    """Writes `rows` [T, G, D] to the `slots` [T] of a paged cache."""
    page_size = cache.shape[2 if layout == "HND" else 1]
    slots = slots.to(torch.int64)
    page, offset = slots // page_size, slots % page_size
    if layout == "HND":
        cache[page, :, offset, :] = rows.to(cache.dtype)
    else:
        cache[page, offset] = rows.to(cache.dtype)


def gather_rows(cache: torch.Tensor, table: torch.Tensor, layout: str) -> torch.Tensor:
    """The rows of the pages in `table` [T, P], as float32 [T, G, P * S, D]."""
    # Pages are gathered as bytes: not every torch indexes float8.
    is_narrow = cache.dtype.itemsize == 1
    pages = cache.view(torch.uint8)[table] if is_narrow else cache[table]
    pages = pages.view(cache.dtype) if is_narrow else pages
    rows = pages.to(torch.float32)
    rows = (
        rows.permute(0, 2, 1, 3, 4) if layout == "HND" else rows.permute(0, 3, 1, 2, 4)
    )
    return rows.flatten(2, 3)


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """x [T, N] over its root mean square, times `weight` [N]."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def rotate(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """RoPE of x [T, heads, D] at `positions` [T]."""
    half = x.shape[-1] // 2
    steps = torch.arange(half, device=x.device, dtype=torch.float32)
    angles = positions.to(torch.float32)[:, None] * (10000.0 ** (-steps / half))
    cos, sin = angles.cos()[:, None], angles.sin()[:, None]
    low, high = x[..., :half], x[..., half:]
    return torch.cat([low * cos - high * sin, high * cos + low * sin], dim=-1)


class Layer(nn.Module):
    """Paged attention and an MLP."""

    def __init__(self, shape: Shape, layout: str) -> None:
        super().__init__()
        self.shape, self.layout = shape, layout
        width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim
        self.qkv = nn.Linear(shape.hidden, width, bias=False)
        self.out = nn.Linear(shape.heads * shape.head_dim, shape.hidden, bias=False)
        self.up = nn.Linear(shape.hidden, 2 * shape.hidden, bias=False)
        self.down = nn.Linear(2 * shape.hidden, shape.hidden, bias=False)
        self.norms = nn.Parameter(torch.ones(2, shape.hidden))

    def forward(
        self,
        x: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        slots: torch.Tensor,
        positions: torch.Tensor,
        table: torch.Tensor,
    ) -> torch.Tensor:
        """x [T, N] to [T, N]; K and V of the tokens go into the caches."""
        heads = self.qkv(rms_norm(x, self.norms[0])).unflatten(
            -1, (-1, self.shape.head_dim)
        )
        q, k, v = heads.split(
            [self.shape.heads, self.shape.kv_heads, self.shape.kv_heads], dim=1
        )
        q, k = rotate(q, positions), rotate(k, positions)
        write_rows(keys, slots, k, self.layout)
        write_rows(values, slots, v, self.layout)
        x = x + self.out(self.attend(q, keys, values, positions, table))
        return x + self.down(nn.functional.silu(self.up(rms_norm(x, self.norms[1]))))

    def attend(
        self,
        q: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        positions: torch.Tensor,
        table: torch.Tensor,
    ) -> torch.Tensor:
        """Attention of q [T, H, D] over each token's own pages, [T, H * D]."""
        k = gather_rows(keys, table, self.layout)
        v = gather_rows(values, table, self.layout)
        q = q.unflatten(1, (self.shape.kv_heads, -1))
        scores = q @ k.transpose(-1, -2) * self.shape.head_dim**-0.5
        steps = torch.arange(k.shape[2], device=q.device)
        late = steps[None, :] > positions[:, None]
        weights = scores.masked_fill(late[:, None, None], float("-inf")).softmax(-1)
        return (weights @ v).flatten(1)


class Decoder(nn.Module):
    """Embedding, layers, and logits."""

    def __init__(self, shape: Shape, layout: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(shape.vocabulary, shape.hidden)
        self.layers = nn.ModuleList(Layer(shape, layout) for _ in range(shape.layers))
        self.head = nn.Linear(shape.hidden, shape.vocabulary, bias=False)

    def forward(
        self,
        tokens: torch.Tensor,
        keys: list[torch.Tensor],
        values: list[torch.Tensor],
        slots: torch.Tensor,
        positions: torch.Tensor,
        table: torch.Tensor,
    ) -> torch.Tensor:
        """Logits [T, vocabulary] of one step of `tokens` [T], each the last of its
        sequence: at `positions` [T], in `slots` [T] int32, with the pages of its
        sequence in `table` [T, P]."""
        x = self.embedding(tokens)
        for layer, k, v in zip(self.layers, keys, values, strict=True):
            x = layer(x, k, v, slots, positions, table)
        return self.head(x)


def make_decoder(shape: Shape, layout: str, device: str = "cpu") -> Decoder:
    """A decoder with the same random weights each time, for inference."""
    torch.manual_seed(0)
    return Decoder(shape, layout).to(device).requires_grad_(False)


def make_step(
    shape: Shape, tokens: int, device: str = "cpu"
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Tokens, slots, positions and page table of a step of `tokens` sequences; each
    has pages of its own."""
    if tokens * shape.table > shape.pages:
        raise ValueError(f"{shape.pages} pages are too few for {tokens} sequences")
    order = torch.arange(shape.pages).flip(0)[: tokens * shape.table]
    table = order.reshape(tokens, shape.table)
    positions = torch.arange(tokens) * 5 % (shape.table * shape.page_size)
    page = table.gather(1, (positions // shape.page_size)[:, None])[:, 0]
    slots = page * shape.page_size + positions % shape.page_size
    ids = torch.arange(tokens) * 7 % shape.vocabulary
    moved = [x.to(device) for x in (ids, slots.to(torch.int32), positions, table)]
    return moved[0], moved[1], moved[2], moved[3]


def run(
    model: Callable[..., torch.Tensor], shape: Shape, caches: Caches, tokens: int = 3
) -> torch.Tensor:
    """Logits [T, vocabulary] of a step of `tokens` sequences."""
    device = caches.buffers[0].device.type
    ids, slots, positions, table = make_step(shape, tokens, device)
    return model(ids, caches.keys, caches.values, slots, positions, table)
