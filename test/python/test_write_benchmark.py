# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The write benchmark: what its cases move, and what its bars make of figures."""

import dataclasses
import pathlib
import sys

import pytest
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import write_bars
from write_cases import BF16, FP8, Case, bar_cases, long_case, make_layers


@pytest.mark.parametrize(
    ("case", "megabytes"),
    [
        (long_case(8192, 4, BF16), 37.7),
        (long_case(8192, 8, FP8), 54.5),
        (Case(256, 4, BF16, page_size=64), 1.2),
    ],
)
def test_bytes_moved(case: Case, megabytes: float) -> None:
    """Rows are read once and stored once, each in its own type."""
    assert case.fields()["bytes"] / 1e6 == pytest.approx(megabytes, abs=0.05)


def test_layers_share_slots_only() -> None:
    """Slots are distinct and fit in the pool; each layer has its own rows, caches."""
    case = Case(8, 2, FP8, pages=4)
    first, second = make_layers(case, "cpu", count=2)
    assert len(set(first.slots.tolist())) == case.tokens
    assert max(first.slots.tolist()) < case.pages * case.page_size
    assert first.slots is second.slots
    assert not torch.equal(first.k, second.k)
    own = {
        tensor.data_ptr() for layer in (first, second) for tensor in layer.cache_bytes()
    }
    assert len(own) == 6


def figures_of(*taken: tuple[Case, str, float]) -> list[dict]:
    """Figures of ways, in microseconds."""
    return [{**case.fields(), "way": way, "us": us} for case, way, us in taken]


def verdict_of(figures: list[dict], case: Case, other: str) -> write_bars.Verdict:
    """The verdict on the one bar of the case against `other`."""
    (verdict,) = [
        verdict
        for verdict in write_bars.verdicts(figures)
        if verdict.bar.case == case
        and other in verdict.bar.others
        and verdict.bar.key == "us"
    ]
    return verdict


def test_bar_by_mode() -> None:
    """Each mode has its ratio; one that keeps the bar is enough."""
    case = Case(64, 4, FP8)
    figures = figures_of(
        (case, "kvfuse late", 1.2),
        (case, "kvfuse early", 0.8),
        (case, "plain Triton", 2.0),
    )
    verdict = verdict_of(figures, case, "plain Triton")
    assert verdict.ratios == pytest.approx({"late": 0.6, "early": 0.4})
    assert verdict.best() == "early"
    assert verdict.is_kept()
    figures[1]["us"] = 0.95
    assert not verdict_of(figures, case, "plain Triton").is_kept()


def test_empty_kernel_of_the_same_mode() -> None:
    """A kernel is compared with the empty one that is launched as it is."""
    case = Case(64, 4, FP8)
    figures = figures_of(
        (case, "kvfuse early", 1.2),
        (case, "empty early", 1.0),
        (case, "empty late", 0.1),
    )
    verdict = verdict_of(figures, case, "empty {mode}")
    assert verdict.ratios == pytest.approx({"early": 1.2})


def test_fastest_of_the_others_counts() -> None:
    case = Case(64, 8, FP8, is_pooled=False)
    figures = figures_of(
        (case, "kvfuse late", 0.6),
        (case, "Inductor", 2.0),
        (case, "Inductor combo", 1.0),
    )
    verdict = verdict_of(figures, case, "Inductor combo")
    assert verdict.ratios == pytest.approx({"late": 0.6})


def test_growth_with_the_pages() -> None:
    few = Case(64, 8, FP8)
    many = dataclasses.replace(few, pages=4096)
    figures = figures_of((few, "kvfuse early", 1.0), (many, "kvfuse early", 1.2))
    verdict = verdict_of(figures, many, "kvfuse {mode}")
    assert verdict.ratios == pytest.approx({"early": 1.2})
    assert not verdict.is_kept()


def test_missing_figures_are_no_verdict() -> None:
    """A bar whose peer failed is not kept."""
    case = Case(64, 4, FP8)
    verdict = verdict_of(figures_of((case, "kvfuse early", 0.8)), case, "plain Triton")
    assert verdict.ratios == {}
    assert not verdict.is_kept()


def test_every_bar_has_its_cases() -> None:
    """The suite `bars` measures all that the bars need."""
    measured = set(bar_cases())
    for bar in write_bars.bars():
        assert bar.case in measured
        assert bar.others_case is None or bar.others_case in measured
