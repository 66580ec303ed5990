#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times compiling, hits of the compile cache, and loading into the process.

    benchmarks/compile_cache.py [--layers 1 60 240] [--runs 20] [--json FILE]

Models as in compile_layers.py, as objects for the CPU, through libkvfuse with a cache
of its own. Times are medians, in milliseconds.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import record
from compile_layers import ROOT, model


def measure(call: Callable[[], Any], runs: int) -> float:
    """Median milliseconds of `runs` calls."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def measure_model(library: Any, layers: int, runs: int) -> dict[str, float]:
    """The figures of one model; the cache holds nothing else."""
    request = (model(layers), "", "cpu", "obj", 2, None)

    def compile_anew() -> None:
        library.cache_clear()
        library.compile(*request)

    compile_ms = measure(compile_anew, max(3, runs // 5))
    hits = library.cache_info()["hits"]
    hit_ms = measure(lambda: library.compile(*request), runs)
    assert library.cache_info()["hits"] == hits + runs
    output, _ = library.compile(*request)
    return {
        "layers": layers,
        "text_bytes": len(request[0]),
        "compile_ms": compile_ms,
        "hit_ms": hit_ms,
        "load_ms": measure(lambda: library.load(output), runs),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 60, 240])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there")
    options = parser.parse_args()

    import tvm_ffi

    folder = pathlib.Path(os.environ.get("KVFUSE_LIB_DIR", ROOT / "build" / "lib"))
    library = tvm_ffi.load_module(str(folder / "libkvfuse.so"))
    figures = []
    print(f"{'layers':>7} {'text, kB':>9} {'compile':>9} {'hit':>9} {'load':>9}")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["KVFUSE_CACHE_DIR"] = cache
        for layers in options.layers:
            figure = measure_model(library, layers, options.runs)
            figures.append(figure)
            print(
                f"{layers:7} {figure['text_bytes'] / 1e3:9.1f}"
                f" {figure['compile_ms']:9.3f} {figure['hit_ms']:9.3f}"
                f" {figure['load_ms']:9.3f}"
            )
    if options.json:
        record.write(options.json, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
