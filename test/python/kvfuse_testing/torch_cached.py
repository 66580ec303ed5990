# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run as a program: compiles a small model with kvfuse's pass in Inductor, and prints
what it did as JSON."""

from __future__ import annotations

import json

import torch
from torch._dynamo.utils import counters

import kvfuse.torch


def model(cache: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """Writes rows [T, H, D] to slots [T] of a cache [B, S, H, D], and reads a page."""
    cache[slots // 8, slots % 8] = rows.to(cache.dtype)
    return cache[1].float() * 2


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kvfuse.torch.enable()
    slots = torch.tensor([3, 9, 14], device=device)
    rows = torch.arange(3 * 2 * 16, device=device).reshape(3, 2, 16) / 8
    caches = [torch.zeros(4, 8, 2, 16, device=device).bfloat16() for _ in range(2)]
    given = torch.compile(model)(caches[0], slots, rows)
    expected = model(caches[1], slots, rows)
    statistics = kvfuse.torch.statistics()
    print(
        json.dumps(
            {
                "same": torch.equal(*caches) and torch.equal(given, expected),
                "hits": counters["inductor"]["fxgraph_cache_hit"]
                + counters["aot_autograd"]["autograd_cache_hit"],
                "graphs": statistics.graphs,
                "sites": statistics.sites,
            }
        )
    )


if __name__ == "__main__":
    main()
