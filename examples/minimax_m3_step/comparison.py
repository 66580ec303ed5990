# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways of writing, each measured and compared with the chain."""

import dataclasses
from collections.abc import Callable

import kvfuse
import torch

import harness
from decoder import DecodeStep, StepSpec
from writes import CHAIN, NOTHING, Writes


@dataclasses.dataclass
class Figures:
    """What one way of writing costs, and whether it does what the chain does."""

    variant: str
    #: Kernels for the writes of all layers; None where nothing counts them.
    write_launches: int | None
    #: The median of a whole step, in microseconds.
    step_us: float
    #: What the writes add to a step, in microseconds.
    writes_us: float
    same_outputs: bool
    same_caches: bool

    @property
    def is_right(self) -> bool:
        """Are outputs and caches the chain's?"""
        return self.same_outputs and self.same_caches


class Comparison:
    """Measures ways of writing, each against the same reference."""

    def __init__(
        self,
        spec: StepSpec,
        device: torch.device,
        rounds: int,
        change: Callable[[DecodeStep], None] = lambda _: None,
    ) -> None:
        """`change` is done to every step before it runs: compiles it, say."""
        self.spec, self.device, self.rounds = spec, device, rounds
        self.change = change
        idle = harness.prepared(spec, device, NOTHING, change)
        self.idle_us = idle.time(rounds)
        self.idle_kernels = idle.count_kernels() if device.type == "cuda" else 0
        reference = harness.prepared(spec, device, CHAIN, change)
        self.outputs = reference.decode()
        self.caches = reference.step.pools()

    def measure(self, variant: str, writes: Writes, launches: int | None) -> Figures:
        """The figures of a variant; `launches` where no profiler can count them."""
        runner = harness.prepared(self.spec, self.device, writes, self.change)
        same_outputs = harness.same_bytes(runner.decode(), self.outputs)
        same_caches = harness.same_bytes(runner.step.pools(), self.caches)
        step_us = runner.time(self.rounds)
        if self.device.type == "cuda":
            launches = runner.count_kernels() - self.idle_kernels
        return Figures(
            variant,
            launches,
            step_us,
            step_us - self.idle_us,
            same_outputs,
            same_caches,
        )


def eager_figures(spec: StepSpec, device: torch.device, rounds: int) -> list[Figures]:
    """Torch's chain against the compiled write functions, without torch.compile."""
    fused = harness.compile_for(spec, device)
    before, after = harness.write_launches(spec, fused)
    comparison = Comparison(spec, device, rounds)
    return [
        comparison.measure("eager", CHAIN, before),
        comparison.measure("eager, fused writes", fused, after),
    ]


def compiler_of(what: str) -> Callable[[DecodeStep], None]:
    """Puts each "layer", or the "step" as a whole, under torch.compile."""

    def apply(step: DecodeStep) -> None:
        torch._dynamo.reset()
        for module in step.layers if what == "layer" else [step]:
            module.compile(dynamic=False)

    return apply


def inductor_figures(
    spec: StepSpec, device: torch.device, rounds: int, what: str
) -> list[Figures]:
    """The chain under torch.compile, without kvfuse's pass and with it."""
    comparison = Comparison(spec, device, rounds, compiler_of(what))
    figures = [comparison.measure("torch.compile", CHAIN, None)]
    kvfuse.torch.enable()
    try:
        fused = comparison.measure("torch.compile, kvfuse", CHAIN, None)
        if fused.write_launches is None:
            fused.write_launches = launches_replaced(spec, what)
    finally:
        kvfuse.torch.disable()
    return [*figures, fused]


def launches_replaced(spec: StepSpec, what: str) -> int | None:
    """Launches of a step by what kvfuse's pass replaced; None if it left a chain."""
    seen = kvfuse.torch.statistics()
    if seen.refused or not seen.graphs:
        return None
    runs = spec.layers if what == "layer" else 1
    return seen.sites // seen.graphs * runs
