#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of examples/minimax_m3_step as JSON.

    benchmarks/step.py [options of the example] [--json FILE]

Launches of the cache writes of a 60-layer decode step, the time of a step, and what
of it the writes are, for torch's chains and for fused ones. Times move from machine
to machine: compare the lines of one run.
"""

import dataclasses
import pathlib
import sys

import torch

import record

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "examples" / "minimax_m3_step"))

import demo


def main() -> int:
    parser = demo.parser()
    parser.description = __doc__.splitlines()[0]
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures = demo.figures_of(options)
    demo.print_table(figures)
    if options.json:
        spec = dataclasses.asdict(demo.spec_of(options))
        spec["cache_dtype"] = options.cache
        rows = [spec | dataclasses.asdict(row) for row in figures]
        record.write(options.json, rows, options.device)
    return 0 if all(row.is_right for row in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
