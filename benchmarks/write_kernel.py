#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The write kernel against other ways to write the caches, on a GPU.

    FLASHINFER_INCLUDE=DIR:DIR benchmarks/write_kernel.py \\
        [--suite bars|decode|prefill|all|model|unfused] [--json FILE]

A CUDA graph of 60 layers, each with caches and rows of its own, is replayed 50
times; ways take turns of ten replays, and the figure is the median, in microseconds a
layer. Every way's graph is first compared with torch's chain, byte for byte, in all
layers.
`between` is what a write adds between ordinary elementwise kernels: the graph of
both, less that of the latter. Inductor is measured in some cases only, as a
compilation takes seconds. `model` compares kernels of other shapes with the one that
the cost model chooses, `unfused` a chain that kvfuse did not fuse with torch's.
"""

import argparse
import functools
import pathlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping

import torch
import triton

import kvfuse
import record
import write_bars
import write_cases
from write_cases import Case, Layer, NotMeasuredError, make_layers
from write_graphs import capture, check, expected_bytes, time_graphs
from write_kvfuse import (
    KVFUSE,
    SHAPES,
    Write,
    compile_chain,
    kvfuse_write,
    launch_shape,
    require_vectors,
)
from write_peers import FLOORS, PEERS

Makers = Mapping[str, Callable[[Case], Write]]

#: From here on what stands between writes takes much longer than they do.
MOST_TOKENS_BETWEEN = 256

COMPARED: Makers = {**KVFUSE, **PEERS, **FLOORS}
MODELLED: Makers = {"kvfuse early": KVFUSE["kvfuse early"], **SHAPES}
UNFUSED: Makers = {
    "kvfuse unfused": functools.partial(kvfuse_write, pdl="off", fuse="off"),
    "eager chain": PEERS["eager chain"],
}

SUITES: dict[str, tuple[list[Callable[[], Iterable[Case]]], Makers]] = {
    "bars": ([write_cases.bar_cases], COMPARED),
    "decode": ([write_cases.decode_cases], COMPARED),
    "prefill": ([write_cases.prefill_cases], COMPARED),
    "all": (
        [write_cases.bar_cases, write_cases.decode_cases, write_cases.prefill_cases],
        COMPARED,
    ),
    "model": ([write_cases.model_cases], MODELLED),
    "unfused": ([write_cases.bar_cases], UNFUSED),
}


class Measurement:
    """The ways that can write a case. What fails is in `failures`, and not timed."""

    def __init__(self, case: Case, makers: Makers) -> None:
        self.case, self.layers = case, make_layers(case)
        self.ways: dict[str, Write] = {}
        self.graphs: dict[str, torch.cuda.CUDAGraph] = {}
        self.failures: dict[str, str] = {}
        expected = expected_bytes(case, self.layers)
        for name, make in makers.items():
            try:
                write = make(case)
                graph = capture(self.layers, write)
                if name not in FLOORS:
                    check(graph, self.layers, expected)
                if name in KVFUSE:
                    require_vectors(self._compiled(name))
            except NotMeasuredError:
                continue
            except Exception as error:  # noqa: BLE001, whatever a peer raises
                self.failures[name] = f"{type(error).__name__}: {error}"
                continue
            self.ways[name], self.graphs[name] = write, graph

    def figures(self) -> list[dict]:
        """A figure for each way."""
        alone = time_graphs(self.graphs)
        between = self._time_between() if self._has_between() else {}
        figures = []
        for name, taken in alone.items():
            figure = {**self.case.fields(), "way": name, "us": taken / len(self.layers)}
            if name in KVFUSE:
                shape = launch_shape(self._compiled(name), self.case.tokens)
                figure["blocks"], figure["block_size"] = shape[:2], shape[2]
            if name in between:
                added = between[name] - between["nothing"]
                figure["us_between"] = added / len(self.layers)
            figures.append(figure)
        return figures

    def _compiled(self, name: str) -> kvfuse.Compiled:
        """What the way `name` of KVFUSE calls."""
        return compile_chain(self.case, name.removeprefix("kvfuse "))

    def _has_between(self) -> bool:
        return self.case.tokens <= MOST_TOKENS_BETWEEN

    def _time_between(self) -> dict[str, float]:
        """Microseconds of ordinary kernels, alone as "nothing" and with each way."""
        tensor = torch.zeros(64 * 4096, dtype=torch.bfloat16, device="cuda")

        def ordinary(layer: Layer) -> None:
            tensor.add_(1.0)

        graphs = {
            name: capture(self.layers, ordinary, write)
            for name, write in self.ways.items()
        }
        graphs["nothing"] = capture(self.layers, ordinary)
        return time_graphs(graphs)


def show(case: Case, figures: list[dict], failures: dict[str, str]) -> None:
    """A case as a line for each way."""
    print(case.name())
    for figure in figures:
        between = figure.get("us_between")
        text = f"{between:8.2f} between" if between is not None else ""
        print(f"  {figure['way']:22}{figure['us']:8.2f} us{text}")
    for name, failure in failures.items():
        print(f"  {name:22} FAILED: {failure}")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, default="bars")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    sources, makers = SUITES[options.suite]
    cases = dict.fromkeys(case for source in sources for case in source())
    figures, failed, began = [], False, time.monotonic()
    for case in cases:
        # Inductor would take the sizes of further cases for dynamic.
        torch._dynamo.reset()
        measurement = Measurement(case, makers)
        taken = measurement.figures()
        show(case, taken, measurement.failures)
        figures += taken
        failed |= bool(measurement.failures)
        del measurement
        torch.cuda.empty_cache()
        if options.json:
            record.write(options.json, figures, "cuda", triton=triton.__version__)
    print(f"{len(cases)} cases in {time.monotonic() - began:.0f} s")
    if makers is COMPARED:
        write_bars.show(write_bars.verdicts(figures))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
