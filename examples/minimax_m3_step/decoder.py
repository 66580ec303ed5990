# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decode step like MiniMax-M3's: dense layers, then layers whose indexer picks
the pages that attention reads.

Projection, indexer and attention stand in for an engine's kernels, in plain torch
operations. They read the caches, so a wrong row in a cache is a wrong output.

T tokens, one of each sequence; N pages a sequence; B = T * N pages; P tokens a
page; H KV heads and Q query heads of this rank; D head dimension; M model width.
"""

import dataclasses
from collections.abc import Callable

import torch
from torch.nn import functional

from writes import CHAIN, Writes

BF16 = torch.bfloat16


@dataclasses.dataclass(frozen=True)
class StepSpec:
    """The sizes of a step; heads are those of one rank."""

    dense_layers: int = 3
    sparse_layers: int = 57
    tokens: int = 4
    pages: int = 4
    top_pages: int = 2
    page_size: int = 32
    heads: int = 2
    query_heads: int = 4
    head_dim: int = 128
    width: int = 64
    cache_dtype: torch.dtype = torch.float8_e4m3fn

    @property
    def layers(self) -> int:
        """Layers of the step."""
        return self.dense_layers + self.sparse_layers


def of_one_rank(partial: torch.Tensor) -> torch.Tensor:
    """The sum over ranks of a rank that is alone."""
    return partial


class Batch:
    """The sequences of a step, a token of each; advances in place.

    `table` int64 [T, N] holds the pages of each sequence, `lengths` int64 [T] the
    tokens that each has with the one of this step, `slots` int32 [T] where in the
    caches that one goes. A captured CUDA graph reads what is in them at replay.
    """

    def __init__(self, spec: StepSpec, device: torch.device, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.page_size = spec.page_size
        order = torch.randperm(spec.tokens * spec.pages, generator=generator)
        self.table = order.view(spec.tokens, spec.pages).to(device)
        # Room for some steps is left in the last page.
        full = (spec.pages - 1) * spec.page_size
        shape = (spec.tokens,)
        self.lengths = torch.randint(1, full, shape, generator=generator).to(device)
        self.slots = torch.zeros(spec.tokens, dtype=torch.int32, device=device)
        self.advance()

    def advance(self) -> None:
        """Goes on to the next token of each sequence."""
        self.lengths += 1
        last = self.lengths - 1
        page = self.table.gather(1, (last // self.page_size)[:, None])[:, 0]
        self.slots.copy_(page * self.page_size + last % self.page_size)


def gather_pages(cache: torch.Tensor, pages: torch.Tensor) -> torch.Tensor:
    """Rows [T, H, N * P, D] of the pages [T, N] of cache [B, H, P, D], in bf16."""
    return cache[pages].transpose(1, 2).flatten(2, 3).to(BF16)


def is_known(places: torch.Tensor, lengths: torch.Tensor, page: int) -> torch.Tensor:
    """Which tokens [T, N * P] of pages `places` [T, N] a sequence has already."""
    offsets = torch.arange(page, device=places.device)
    tokens = places[:, :, None] * page + offsets
    return (tokens < lengths[:, None, None]).flatten(1)


class Layer(torch.nn.Module):
    """A layer of the step; a sparse one has an index-K cache and an indexer."""

    def __init__(
        self, spec: StepSpec, is_sparse: bool, device: torch.device, seed: int
    ) -> None:
        super().__init__()
        generator = torch.Generator(device).manual_seed(seed)

        def random(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator, device=device)

        self.spec, self.is_sparse = spec, is_sparse
        self.writes = CHAIN
        self.reduce: Callable[[torch.Tensor], torch.Tensor] = of_one_rank
        heads = [spec.query_heads, spec.heads, spec.heads] + [1, 1] * is_sparse
        self.widths = [count * spec.head_dim for count in heads]
        scale = spec.width**-0.5
        projection = scale * random(spec.width, sum(self.widths))
        self.register_buffer("projection", projection.to(BF16))
        output = random(self.widths[0], spec.width) * self.widths[0] ** -0.5
        self.register_buffer("output", output.to(BF16))
        place = (spec.page_size, spec.head_dim)
        blocks = spec.tokens * spec.pages
        #: K and V of this layer, [B, 2, H, P, D].
        kv_pool = random(blocks, 2, spec.heads, *place)
        self.register_buffer("kv_pool", kv_pool.to(spec.cache_dtype))
        #: index-K of this layer, [B, 1, P, D]; a dense layer has none.
        pages = blocks if is_sparse else 0
        index_pool = random(pages, 1, *place)
        self.register_buffer("index_pool", index_pool.to(BF16))

    def project(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Rows [T, heads, D] of Q, K, V and, if sparse, of index-K and index-Q."""
        packed = functional.rms_norm(x, x.shape[-1:]) @ self.projection
        rows = packed.split(self.widths, 1)
        return [part.unflatten(1, (-1, self.spec.head_dim)) for part in rows]

    def write_operands(self, rows: list[torch.Tensor], slots: torch.Tensor) -> tuple:
        """Caches, rows and slots, in the order of the write functions."""
        caches = [self.kv_pool[:, 0], self.kv_pool[:, 1]]
        if self.is_sparse:
            caches.append(self.index_pool)
        return (*caches, *rows[1 : 1 + len(caches)], slots)

    def choose_pages(
        self, query: torch.Tensor, table: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        """Places [T, n] in `table` of the pages that suit index-Q [T, 1, D] best."""
        spec = self.spec
        every = torch.arange(spec.pages, device=table.device).expand(table.shape)
        if not self.is_sparse:
            return every
        keys = gather_pages(self.index_pool, table)
        scores = (keys @ query[..., None]).flatten(1).float()
        known = is_known(every, lengths, spec.page_size)
        scores = scores.masked_fill(~known, -torch.inf)
        best = scores.unflatten(1, (spec.pages, -1)).amax(2)
        return best.topk(spec.top_pages, 1).indices

    def attend(
        self,
        query: torch.Tensor,
        table: torch.Tensor,
        lengths: torch.Tensor,
        places: torch.Tensor,
    ) -> torch.Tensor:
        """Attention [T, Q * D] of the query [T, Q, D] over the pages at `places`."""
        pages = table.gather(1, places)
        keys = gather_pages(self.kv_pool[:, 0], pages)
        values = gather_pages(self.kv_pool[:, 1], pages)
        known = is_known(places, lengths, self.spec.page_size)
        grouped = query.unflatten(1, (self.spec.heads, -1))
        attended = functional.scaled_dot_product_attention(
            grouped, keys, values, attn_mask=known[:, None, None]
        )
        return attended.flatten(1)

    def forward(
        self,
        x: torch.Tensor,
        table: torch.Tensor,
        lengths: torch.Tensor,
        slots: torch.Tensor,
    ) -> torch.Tensor:
        """The layer on x [T, M], after it wrote the rows of this step's tokens."""
        rows = self.project(x)
        write = self.writes.sparse if self.is_sparse else self.writes.dense
        write(*self.write_operands(rows, slots))
        places = self.choose_pages(rows[-1], table, lengths)
        attended = self.attend(rows[0], table, lengths, places)
        return x + self.reduce(attended @ self.output)


class DecodeStep(torch.nn.Module):
    """All layers; the same seed makes the same weights and the same caches."""

    def __init__(self, spec: StepSpec, device: torch.device, seed: int = 0) -> None:
        super().__init__()
        kinds = [False] * spec.dense_layers + [True] * spec.sparse_layers
        self.layers = torch.nn.ModuleList(
            Layer(spec, is_sparse, device, seed + number)
            for number, is_sparse in enumerate(kinds)
        )

    def use(self, writes: Writes) -> None:
        """Lets every layer write by `writes`."""
        for layer in self.layers:
            layer.writes = writes

    def pools(self) -> list[torch.Tensor]:
        """The buffers that own the caches of all layers."""
        return [p for layer in self.layers for p in (layer.kv_pool, layer.index_pool)]

    def forward(self, x: torch.Tensor, batch: Batch) -> torch.Tensor:
        """The step on x [T, M]."""
        for layer in self.layers:
            x = layer(x, batch.table, batch.lengths, batch.slots)
        return x
