#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls a compiled write a few times, for a profiler to look at.

    benchmarks/write_once.py --tokens 64 --heads 4 --type fp8 [--pdl early] [--ptx FILE]

The caches and rows are those of write_kernel, one set for each call; index-K is
written too. `--ptx` writes the PTX of the kernels to a file.
"""

import argparse
import pathlib
import sys

import torch

from write_cases import BF16, FP8, Case, long_case, make_layers
from write_kvfuse import MODES, compile_chain, kernel_of

CALLS = 8
TYPES = {"fp8": FP8, "bf16": BF16}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--heads", type=int, required=True)
    parser.add_argument("--type", choices=TYPES, required=True)
    parser.add_argument("--pdl", choices=MODES, default="off")
    parser.add_argument("--ptx", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    make = long_case if options.tokens >= 1024 else Case
    case = make(options.tokens, options.heads, TYPES[options.type])
    compiled = compile_chain(case, options.pdl)
    if options.ptx:
        options.ptx.write_text(compiled.ptx)
    for layer in make_layers(case, count=CALLS):
        compiled(*layer.arguments())
    torch.cuda.synchronize()
    print(kernel_of(compiled, case.tokens)["name"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
