#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bars of the write kernel, as ratios of figures from one run of write_kernel.

    benchmarks/write_bars.py FILE.json

Each mode of dependent launch has its own column. A bar is kept if one mode keeps it,
which is named. Exits with 1 if a bar is missed, or could not be measured.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
from collections.abc import Iterable

from write_cases import BF16, FP8, Case, long_case

LAUNCHED_EARLY, LAUNCHED_LATE = "early", "late"

#: As many bytes by the driver, and by a kernel: the faster counts.
COPIES = ("copy_", "elementwise")


@dataclasses.dataclass(frozen=True)
class Bar:
    """kvfuse takes at most `limit` times what the fastest of `others` takes."""

    limit: float
    case: Case
    others: tuple[str, ...]
    """Ways; {mode} in a name is the mode of kvfuse."""
    others_case: Case | None = None
    """Where the others are measured, if elsewhere."""
    key: str = "us"
    modes: tuple[str, ...] = ("off", LAUNCHED_LATE, LAUNCHED_EARLY)

    def name(self) -> str:
        others = " or ".join(self.others).replace(" {mode}", ", launched alike")
        where = f" at {self.others_case.name()}" if self.others_case else ""
        between = "between others, " if self.key == "us_between" else ""
        return f"{self.case.name()}: {between}of {others}{where}"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The ratios of a bar by mode; a mode without figures is left out."""

    bar: Bar
    ratios: dict[str, float]

    def best(self) -> str | None:
        """The mode with the lowest ratio."""
        return min(self.ratios, key=self.ratios.__getitem__, default=None)

    def is_kept(self) -> bool:
        return any(ratio <= self.bar.limit for ratio in self.ratios.values())


def decode_bars() -> Iterable[Bar]:
    at_4, at_8 = Case(64, 4, FP8), Case(64, 8, FP8)
    yield Bar(0.45, at_4, ("plain Triton",))
    yield Bar(0.33, at_8, ("plain Triton",))
    yield Bar(0.8, at_4, COPIES)
    yield Bar(1.35, at_4, ("empty {mode}",))
    yield Bar(0.3, Case(1, 8, FP8), ("plain Triton",))
    for mode, limit in ((LAUNCHED_EARLY, 0.65), (LAUNCHED_LATE, 0.7)):
        yield Bar(limit, at_4, ("plain Triton",), key="us_between", modes=(mode,))


def inductor_bars() -> Iterable[Bar]:
    both = ("Inductor", "Inductor combo")
    for heads, limit in ((1, 0.65), (8, 0.75)):
        yield Bar(limit, Case(64, heads, FP8, is_pooled=False), both)
    for heads in (1, 8):
        yield Bar(0.1, Case(64, heads, FP8), both)
    # "No growth with the pages", as far as a GPU repeats itself.
    few = Case(64, 8, FP8)
    for pages in (256, 1024, 4096):
        many = dataclasses.replace(few, pages=pages)
        yield Bar(1.1, many, ("kvfuse {mode}",), others_case=few)


def flashinfer_bars() -> Iterable[Bar]:
    for tokens, limit in ((64, 0.6), (1, 0.5)):
        for heads in (4, 8):
            case = Case(tokens, heads, BF16, has_index=False)
            yield Bar(limit, case, ("FlashInfer",))


def prefill_bars() -> Iterable[Bar]:
    for tokens in (8192, 32768):
        yield Bar(1.05, long_case(tokens, 4, BF16), COPIES)
        yield Bar(1.05, long_case(tokens, 8, FP8), COPIES)


def bars() -> list[Bar]:
    return [*decode_bars(), *inductor_bars(), *flashinfer_bars(), *prefill_bars()]


def verdicts(figures: list[dict]) -> list[Verdict]:
    """The verdict on each bar of which there are figures."""
    by_way = {(figure["case"], figure["way"]): figure for figure in figures}

    def taken(case: Case, way: str, key: str) -> float | None:
        return by_way.get((case.name(), way), {}).get(key)

    def ratio(bar: Bar, mode: str) -> float | None:
        ours = taken(bar.case, f"kvfuse {mode}", bar.key)
        others = [
            taken(bar.others_case or bar.case, other.format(mode=mode), bar.key)
            for other in bar.others
        ]
        theirs = [us for us in others if us is not None]
        return ours / min(theirs) if ours is not None and theirs else None

    cases = {figure["case"] for figure in figures}
    return [
        Verdict(
            bar,
            {
                mode: found
                for mode in bar.modes
                if (found := ratio(bar, mode)) is not None
            },
        )
        for bar in bars()
        if bar.case.name() in cases
    ]


def show(taken: list[Verdict]) -> None:
    """A line for each bar."""
    for verdict in taken:
        ratios = ", ".join(f"{m} {ratio:.2f}" for m, ratio in verdict.ratios.items())
        word = f"kept ({verdict.best()})" if verdict.is_kept() else "MISSED"
        limit = f"at most {verdict.bar.limit:g}"
        print(f"{word:13}{limit:14}{ratios or 'not measured':34}{verdict.bar.name()}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path, metavar="FILE.json")
    taken = verdicts(json.loads(parser.parse_args().file.read_text())["figures"])
    show(taken)
    return int(len(taken) < len(bars()) or not all(v.is_kept() for v in taken))


if __name__ == "__main__":
    sys.exit(main())
