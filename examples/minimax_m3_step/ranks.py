#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The step at tensor-parallel sizes, with a rank in each process.

    torchrun --nproc-per-node=2 ranks.py [--heads 1,2,4] [--layers 3,57] [--rounds N]

Each rank has its share of the KV heads; an all-reduce sums what the ranks attended.
A rank has a GPU of its own where there are enough (NCCL), else all run on the CPU
(gloo). Rank 0 compiles each size; the others have to find its kernels in the compile
cache that they share, KVFUSE_CACHE_DIR. Exit code 1 if one did not, or if outputs or
caches of a rank are not the chain's.
"""

import argparse
import dataclasses
import gc
import os
import sys

import kvfuse
import torch
import torch.distributed as dist

import harness
from comparison import Comparison, Figures
from decoder import DecodeStep, StepSpec
from demo import CUDA_SPEC, parse_layers
from writes import Writes

#: Query heads for each KV head.
GROUP = 4


@dataclasses.dataclass
class RankFigures:
    """What one rank did at one size."""

    rank: int
    heads: int
    #: Functions that the compile cache had.
    hits: int
    figures: Figures

    def is_right(self) -> bool:
        """Rank 0 may compile, the others find both functions; all bytes agree."""
        return self.figures.is_right and (self.rank == 0 or self.hits == 2)


def sum_over_ranks(partial: torch.Tensor) -> torch.Tensor:
    """The sum of all ranks' partial outputs [T, M]."""
    dist.all_reduce(partial)
    return partial


def join_ranks(step: DecodeStep) -> None:
    """Lets all layers sum over ranks."""
    for layer in step.layers:
        layer.reduce = sum_over_ranks


def choose_device() -> torch.device:
    """Joins the process group; this rank's GPU if each rank has one, or the CPU."""
    ranks = int(os.environ["LOCAL_WORLD_SIZE"])
    if torch.cuda.device_count() < ranks:
        dist.init_process_group("gloo")
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    return device


def compile_in_turn(spec: StepSpec, device: torch.device) -> tuple[Writes, int]:
    """The compiled writes, those of rank 0 first, and how many the cache had."""
    if dist.get_rank() != 0:
        dist.barrier()
    before = kvfuse.cache_info()["hits"]
    writes = harness.compile_for(spec, device)
    hits = kvfuse.cache_info()["hits"] - before
    if dist.get_rank() == 0:
        dist.barrier()
    return writes, hits


def measure(spec: StepSpec, device: torch.device, rounds: int) -> RankFigures:
    """The figures of this rank at the size of `spec`."""
    fused, hits = compile_in_turn(spec, device)
    _, launches = harness.write_launches(spec, fused)
    comparison = Comparison(spec, device, rounds, join_ranks)
    figures = comparison.measure("fused", fused, launches)
    return RankFigures(dist.get_rank(), spec.heads, hits, figures)


def report(mine: RankFigures) -> bool:
    """Rank 0 prints a line for each rank; is all right on every rank?"""
    every: list = [None] * dist.get_world_size()
    dist.all_gather_object(every, mine)
    if dist.get_rank() == 0:
        for one in every:
            row = one.figures
            print(
                f"{one.heads:>5}{one.rank:>5}{one.hits:>11}{row.write_launches:>9}"
                f"{row.step_us:>10.1f}  {'yes' if row.is_right else 'NO'}",
                flush=True,
            )
    return all(one.is_right() for one in every)


def parse_heads(text: str) -> list[int]:
    """Numbers of heads, as in 1,2,4."""
    return [int(part) for part in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heads", type=parse_heads, default=[1, 2, 4])
    parser.add_argument("--layers", type=parse_layers, default=(3, 57))
    parser.add_argument("--rounds", type=int, default=20, help="timed steps")
    options = parser.parse_args()
    torch.set_num_threads(1)
    device = choose_device()
    spec = CUDA_SPEC if device.type == "cuda" else StepSpec()
    dense, sparse = options.layers
    if dist.get_rank() == 0:
        print(f"{dense + sparse} layers, {dist.get_world_size()} ranks, {device.type}")
        print("heads rank cache hits launches   step us  same")
    right = True
    for heads in options.heads:
        sized = dataclasses.replace(
            spec,
            dense_layers=dense,
            sparse_layers=sparse,
            heads=heads,
            query_heads=GROUP * heads,
        )
        right = report(measure(sized, device, options.rounds)) and right
    # NCCL ends only when no graph holds its communicator.
    gc.collect()
    dist.destroy_process_group()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
