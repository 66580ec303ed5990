# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a step, times it, counts its kernels, and compares what it leaves."""

import dataclasses
import statistics
import time
import warnings
from collections.abc import Callable

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

from decoder import BF16, Batch, DecodeStep, StepSpec
from writes import Writes, compile_writes

#: Steps whose outputs are compared: slots and lengths change between them.
STEPS = 3
#: Runs before the first that is timed or captured.
WARM_UPS = 2


class Runner:
    """Runs a step on its static inputs: a CUDA graph's replay, or a plain call."""

    def __init__(self, step: DecodeStep, spec: StepSpec, device: torch.device) -> None:
        self.step, self.device = step, device
        self.batch = Batch(spec, device, seed=1)
        generator = torch.Generator().manual_seed(2)
        x = torch.randn(spec.tokens, spec.width, generator=generator)
        self.x = x.to(BF16).to(device)
        self.graph: torch.cuda.CUDAGraph | None = None
        self.output = self.x

    @torch.no_grad()
    def prepare(self) -> None:
        """Warms up, and on CUDA captures the step. Writes the same rows each time."""
        if self.device.type != "cuda":
            self.output = self.step(self.x, self.batch)
            return
        side = torch.cuda.Stream(self.device)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                self.step(self.x, self.batch)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        # Other threads, such as NCCL's watchdog, may use CUDA meanwhile.
        mode = "thread_local"
        with torch.cuda.graph(self.graph, capture_error_mode=mode):
            self.output = self.step(self.x, self.batch)

    @torch.no_grad()
    def run(self) -> torch.Tensor:
        """One step; what it returns is overwritten by the next."""
        if self.graph is not None:
            self.graph.replay()
        else:
            self.output = self.step(self.x, self.batch)
        return self.output

    def decode(self, steps: int = STEPS) -> list[torch.Tensor]:
        """The outputs [T, M] of some steps, one token further each."""
        outputs = []
        for _ in range(steps):
            outputs.append(self.run().clone())
            self.batch.advance()
            self.x.copy_(outputs[-1])
        return outputs

    def time(self, rounds: int) -> float:
        """The median time of a step in microseconds."""
        times = [self._time_once() for _ in range(WARM_UPS + rounds)]
        return statistics.median(times[WARM_UPS:])

    def _time_once(self) -> float:
        if self.device.type == "cuda":
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            self.run()
            end.record()
            end.synchronize()
            return 1e3 * start.elapsed_time(end)
        began = time.perf_counter()
        self.run()
        return 1e6 * (time.perf_counter() - began)

    def count_kernels(self) -> int:
        """Kernels that a step launches on CUDA, copies by the driver left out."""
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            self.run()
            torch.cuda.synchronize()
        # A copy goes by the name of the driver's kernel in a process's first profile.
        return sum(
            event.device_type == DeviceType.CUDA
            and not event.name.lower().startswith(("memcpy", "memset"))
            for event in seen.events()
        )


def prepared(
    spec: StepSpec,
    device: torch.device,
    writes: Writes,
    change: Callable[[DecodeStep], None] = lambda _: None,
) -> Runner:
    """A fresh step that writes by `writes`, after `change` was done to it."""
    step = DecodeStep(spec, device)
    step.use(writes)
    change(step)
    runner = Runner(step, spec, device)
    runner.prepare()
    return runner


def compile_for(spec: StepSpec, device: torch.device) -> Writes:
    """The compiled writes of a step; its first and last layer are the examples."""
    small = dataclasses.replace(spec, dense_layers=1, sparse_layers=1)
    runner = Runner(DecodeStep(small, device), small, device)
    examples = [
        layer.write_operands(layer.project(runner.x), runner.batch.slots)
        for layer in runner.step.layers
    ]
    with warnings.catch_warnings():
        # torch.export's own.
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        return compile_writes(*examples)


def write_launches(spec: StepSpec, writes: Writes) -> tuple[int, int]:
    """Launches of all writes of a step, of the chain and fused, by the reports."""
    counts = []
    for key in ("launches_unfused", "launches"):
        dense, sparse = (
            sum(function[key] for function in compiled.report["functions"])
            for compiled in (writes.dense, writes.sparse)
        )
        counts.append(spec.dense_layers * dense + spec.sparse_layers * sparse)
    return counts[0], counts[1]


def same_bytes(left: list[torch.Tensor], right: list[torch.Tensor]) -> bool:
    """Are all tensors equal, byte by byte?"""
    pairs = zip(left, right, strict=True)
    return all(
        torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))
        for a, b in pairs
    )
