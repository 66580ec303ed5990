# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA graphs of all layers' writes: captured, compared with torch, timed."""

import itertools
import statistics

import torch

from write_cases import Case, Layer
from write_kvfuse import Write, chain_of

#: Each graph is replayed so often in a row, and in so many turns. The first replays of
#: a turn do not count: they find the caches of the GPU as another graph left them.
TURNS, REPLAYS, WARM_UPS = 5, 10, 2

#: Keeps a GPU busy for half a millisecond, while the replays of a turn are queued.
SLEEP_CYCLES = 1_000_000

#: Each takes an H200 about a tenth of a millisecond.
WAKING_ROUNDS = 2000

#: What caches hold before they are written, so that bytes between rows count too.
CANARY = 0xA5


class WrongBytes(RuntimeError):
    """A way of writing that leaves other bytes than torch's chain."""


def capture(layers: list[Layer], *steps: Write) -> torch.cuda.CUDAGraph:
    """A graph that takes `steps` for each layer."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for layer in layers[:2]:
            for step in steps:
                step(layer)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    # Threads of Inductor may use CUDA meanwhile.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for layer in layers:
            for step in steps:
                step(layer)
    return graph


def clear(layers: list[Layer]) -> None:
    """Fills the caches with canaries."""
    for layer in layers:
        for cache in layer.cache_bytes():
            cache.fill_(CANARY)


def expected_bytes(case: Case, layers: list[Layer]) -> list[list[torch.Tensor]]:
    """What torch's chain, called as it stands, leaves in each layer's caches."""
    clear(layers)
    for layer in layers:
        chain_of(case)(*layer.arguments())
    return [[cache.clone() for cache in layer.cache_bytes()] for layer in layers]


def check(
    graph: torch.cuda.CUDAGraph,
    layers: list[Layer],
    expected: list[list[torch.Tensor]],
) -> None:
    """Raises WrongBytes if a replay leaves other bytes than expected anywhere."""
    clear(layers)
    graph.replay()
    for number, (layer, want) in enumerate(zip(layers, expected, strict=True)):
        for got, bytes_ in zip(layer.cache_bytes(), want, strict=True):
            if not torch.equal(got, bytes_):
                raise WrongBytes(f"other bytes than torch's chain in layer {number}")


def wake() -> None:
    """Keeps the GPU busy until its clocks have risen: work of memory and of all
    processors, for a few tenths of a second."""
    tensor = torch.zeros(2**26, dtype=torch.float32, device="cuda")
    for _ in range(WAKING_ROUNDS):
        tensor.add_(1.0)
    torch.cuda.synchronize()


def time_graphs(graphs: dict[str, torch.cuda.CUDAGraph]) -> dict[str, float]:
    """Name -> median microseconds of a replay. Graphs take turns."""
    wake()
    times: dict[str, list[float]] = {name: [] for name in graphs}
    for _ in range(TURNS):
        for name, graph in graphs.items():
            times[name] += time_turn(graph)
    return {name: statistics.median(taken) for name, taken in times.items()}


def time_turn(graph: torch.cuda.CUDAGraph) -> list[float]:
    """Microseconds of each replay, one behind the other. The GPU is kept busy at first,
    so that no replay waits for its own launch by the CPU."""
    count = WARM_UPS + REPLAYS
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    torch.cuda._sleep(SLEEP_CYCLES)
    events[0].record()
    for event in events[1:]:
        graph.replay()
        event.record()
    torch.cuda.synchronize()
    taken = [1e3 * a.elapsed_time(b) for a, b in itertools.pairwise(events)]
    return taken[WARM_UPS:]
