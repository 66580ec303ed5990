#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The write kernel against other ways to write the caches, on a GPU.

    benchmarks/write_kernel.py [--suite bars|decode|prefill|all] [--json FILE]

A CUDA graph of 60 layers, each with caches and rows of its own, is replayed 50
times; ways take turns, and the figure is the median, in microseconds a layer. Every
way is checked against torch's chain first, byte for byte. `between` is what a write
adds between ordinary elementwise kernels: the graph of both, less that of the latter.
"""

import argparse
import pathlib
import statistics
import sys
from collections.abc import Callable, Iterable

import torch

import record
from write_cases import Case, Layer, make_layer, make_layers
from write_peers import FLOORS, PEERS, Write, chain_of

REPLAYS = 50
FP8, BF16 = torch.float8_e4m3fn, torch.bfloat16


def decode_cases() -> Iterable[Case]:
    for tokens in (1, 8, 64, 256):
        for heads in (1, 4, 8):
            for dtype in (FP8, BF16):
                yield Case(tokens, heads, dtype)
                yield Case(tokens, heads, dtype, has_index=False)


def prefill_cases() -> Iterable[Case]:
    for tokens in (1024, 8192, 32768):
        for heads in (1, 4, 8):
            for dtype in (FP8, BF16):
                yield Case(tokens, heads, dtype, pages=tokens // 64, page_size=64)


def bar_cases() -> Iterable[Case]:
    """The cases of the bars: decode, growth with the pages, prefill."""
    for tokens in (1, 64):
        for heads in (1, 4, 8):
            yield Case(tokens, heads, FP8)
            yield Case(tokens, heads, FP8, is_pooled=False)
            yield Case(tokens, heads, BF16, has_index=False)
    yield Case(64, 8, FP8, pages=256)
    yield Case(64, 8, FP8, pages=4096)
    for tokens in (8192, 32768):
        yield Case(tokens, 4, BF16, pages=tokens // 64, page_size=64)
        yield Case(tokens, 8, FP8, pages=tokens // 64, page_size=64)


SUITES = {
    "bars": [bar_cases],
    "decode": [decode_cases],
    "prefill": [prefill_cases],
    "all": [bar_cases, decode_cases, prefill_cases],
}


def check(name: str, write: Write, case: Case, slots: torch.Tensor) -> None:
    """Raises if `write` leaves other bytes than torch's chain."""
    expected, layer = make_layer(case, slots, 1), make_layer(case, slots, 1)
    chain_of(case)(*expected.arguments())
    write(layer)
    torch.cuda.synchronize()
    for got, want in zip(layer.caches(), expected.caches(), strict=True):
        if not torch.equal(got.view(torch.uint8), want.view(torch.uint8)):
            raise RuntimeError(f"{case.name()}: {name} writes other bytes than torch")


def capture(layers: list[Layer], *steps: Write) -> torch.cuda.CUDAGraph:
    """A graph that takes `steps` for each layer."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for step in steps:
            step(layers[0])
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for layer in layers:
            for step in steps:
                step(layer)
    return graph


def time_graphs(graphs: dict[str, torch.cuda.CUDAGraph]) -> dict[str, float]:
    """Name -> microseconds of a replay, taking turns."""
    times: dict[str, list[float]] = {name: [] for name in graphs}
    for _ in range(REPLAYS + 5):
        for name, graph in graphs.items():
            start = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            end.synchronize()
            times[name].append(1e3 * start.elapsed_time(end))
    return {name: statistics.median(taken[5:]) for name, taken in times.items()}


def make_ways(case: Case, slots: torch.Tensor) -> dict[str, Write]:
    """The checked ways that can write the case, and the floors."""
    ways: dict[str, Write] = {}
    for name, make in PEERS.items():
        try:
            write = make(case)
        except ValueError:
            continue
        check(name, write, case, slots)
        ways[name] = write
    return ways | {name: make(case) for name, make in FLOORS.items()}


def ordinary_kernel(layers: list[Layer]) -> Callable[[Layer], None]:
    """What stands between the writes of a model: an elementwise kernel."""
    tensor = torch.zeros(64 * 4096, dtype=torch.bfloat16, device="cuda")
    return lambda layer: tensor.add_(1.0)


def measure(case: Case) -> list[dict]:
    """The figures of a case."""
    layers = make_layers(case)
    ways = make_ways(case, layers[0].slots)
    graphs = {name: capture(layers, write) for name, write in ways.items()}
    alone = time_graphs(graphs)
    between: dict[str, float] = {}
    if case.tokens <= 256:
        ordinary = ordinary_kernel(layers)
        graphs = {
            name: capture(layers, ordinary, write) for name, write in ways.items()
        }
        graphs["nothing"] = capture(layers, ordinary)
        between = time_graphs(graphs)
    figures = []
    for name in ways:
        figure = {"case": case.name(), "way": name, "us": alone[name] / len(layers)}
        if between:
            added = between[name] - between["nothing"]
            figure["us_between"] = added / len(layers)
        figures.append(figure)
    return figures


def show(figures: list[dict]) -> None:
    """A case as a line for each way."""
    print(figures[0]["case"])
    for figure in figures:
        between = figure.get("us_between")
        text = f"{between:8.2f} between" if between is not None else ""
        print(f"  {figure['way']:16}{figure['us']:8.2f} us{text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, default="bars")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    cases = {case: None for suite in SUITES[options.suite] for case in suite()}
    figures = []
    for case in cases:
        taken = measure(case)
        show(taken)
        figures += taken
        torch.cuda.empty_cache()
    if options.json:
        record.write(options.json, figures, "cuda")
    return 0


if __name__ == "__main__":
    sys.exit(main())
