#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decode step of 60 layers: its cache writes as torch's chains, and fused.

    demo.py [--device cpu|cuda] [--layers 3,57] [--tokens T] [--heads H]
            [--cache fp8|bf16] [--compile layer|step] [--rounds N]

Runs the same step with every way of writing, some steps with changing slots, under
a CUDA graph on CUDA; compares outputs and caches with the chain's, byte by byte, and
prints launches and times. Exit code 1 if anything differs.
"""

import argparse
import dataclasses
import sys

import torch

from comparison import Figures, eager_figures, inductor_figures
from decoder import StepSpec

#: Sizes where decode is a serving engine's, and not a test's.
CUDA_SPEC = StepSpec(
    tokens=64, pages=8, top_pages=4, heads=4, query_heads=32, width=2048
)
CACHES = {"fp8": torch.float8_e4m3fn, "bf16": torch.bfloat16}


def print_table(figures: list[Figures]) -> None:
    """A line for each variant."""
    print(f"{'variant':24}{'launches':>9}{'step us':>10}{'writes us':>11}  same")
    for row in figures:
        launches = "-" if row.write_launches is None else row.write_launches
        same = "yes" if row.is_right else "NO"
        print(
            f"{row.variant:24}{launches:>9}{row.step_us:>10.1f}"
            f"{row.writes_us:>11.1f}  {same}"
        )


def parse_layers(text: str) -> tuple[int, int]:
    """Dense and sparse layers, as in 3,57."""
    dense, sparse = map(int, text.split(","))
    return dense, sparse


def parser() -> argparse.ArgumentParser:
    """The options of this script, which benchmarks/step.py has too."""
    result = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    has_cuda = torch.cuda.is_available()
    result.add_argument("--device", default="cuda" if has_cuda else "cpu")
    result.add_argument("--layers", type=parse_layers, metavar="DENSE,SPARSE")
    result.add_argument("--tokens", type=int)
    result.add_argument("--heads", type=int, help="KV heads of this rank")
    result.add_argument("--cache", choices=CACHES, default="fp8", help="of K and V")
    result.add_argument("--compile", choices=("layer", "step"))
    result.add_argument("--rounds", type=int, default=50, help="timed steps")
    return result


def spec_of(options: argparse.Namespace) -> StepSpec:
    """The sizes of the step: the device's usual ones, or what the options say."""
    spec = CUDA_SPEC if torch.device(options.device).type == "cuda" else StepSpec()
    changed = {k: getattr(options, k) for k in ("tokens", "heads")}
    changed["cache_dtype"] = CACHES[options.cache]
    if options.layers:
        changed["dense_layers"], changed["sparse_layers"] = options.layers
    return dataclasses.replace(spec, **{k: v for k, v in changed.items() if v})


def figures_of(options: argparse.Namespace) -> list[Figures]:
    """All figures that the options ask for."""
    spec, device = spec_of(options), torch.device(options.device)
    figures = eager_figures(spec, device, options.rounds)
    if options.compile:
        figures += inductor_figures(spec, device, options.rounds, options.compile)
    return figures


def main() -> int:
    options = parser().parse_args()
    # A step of small operations: threads would only wait for one another.
    torch.set_num_threads(1)
    spec = spec_of(options)
    print(
        f"{spec.layers} layers ({spec.dense_layers} dense), {spec.tokens} tokens, "
        f"{spec.heads} KV heads, {options.device}"
    )
    figures = figures_of(options)
    print_table(figures)
    return 0 if all(row.is_right for row in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
