#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots figures of write_kernel: time against tokens, with the floors drawn in.

    benchmarks/plot_write.py FILE.json OUT.svg

A panel for each head count and cache type, of layers with index-K whose K and V are
views of one pool. Needs matplotlib (benchmarks/requirements.txt).
"""

import argparse
import json
import pathlib
import sys
from collections.abc import Iterator

import matplotlib as mpl
from matplotlib import pyplot

#: Way -> how it is drawn; floors are black and broken.
STYLES = {
    "kvfuse early": {"color": "tab:blue", "marker": "o"},
    "kvfuse late": {"color": "tab:cyan", "marker": "o"},
    "kvfuse off": {"color": "tab:purple", "marker": "o"},
    "plain Triton": {"color": "tab:orange", "marker": "s"},
    "eager chain": {"color": "tab:red", "marker": "^"},
    "copy_": {"color": "black", "linestyle": "--"},
    "elementwise": {"color": "grey", "linestyle": "--"},
    "empty off": {"color": "black", "linestyle": ":"},
    "empty early": {"color": "grey", "linestyle": ":"},
}
LABELS = {
    "copy_": "floor: copy_ of the same bytes",
    "elementwise": "floor: an elementwise kernel on them",
    "empty off": "floor: an empty kernel",
    "empty early": "floor: the same, dependent launch",
}


def choose(figures: list[dict], heads: int, dtype: str) -> dict[int, dict[str, float]]:
    """Tokens -> way -> microseconds a layer. Of several pools the smallest counts."""
    chosen: dict[int, dict[str, float]] = {}
    for figure in sorted(figures, key=lambda figure: -figure["pages"]):
        is_here = figure["heads"] == heads and figure["dtype"] == dtype
        if is_here and figure["has_index"] and figure["is_pooled"]:
            chosen.setdefault(figure["tokens"], {})[figure["way"]] = figure["us"]
    return dict(sorted(chosen.items()))


def lines(
    chosen: dict[int, dict[str, float]],
) -> Iterator[tuple[str, list[int], list[float]]]:
    """Way, tokens and microseconds of each line."""
    for way in STYLES:
        tokens = [number for number, taken in chosen.items() if way in taken]
        if tokens:
            yield way, tokens, [chosen[number][way] for number in tokens]


def draw(record: dict, path: pathlib.Path) -> None:
    figures = record["figures"]
    heads = sorted({figure["heads"] for figure in figures})
    dtypes = sorted({figure["dtype"] for figure in figures})
    # Text stays text, and files of equal figures are equal.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kvfuse"})
    figure, panels = pyplot.subplots(
        len(dtypes),
        len(heads),
        figsize=(4 * len(heads), 3.5 * len(dtypes)),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for row, dtype in zip(panels, dtypes, strict=True):
        for panel, count in zip(row, heads, strict=True):
            for way, x, y in lines(choose(figures, count, dtype)):
                panel.plot(x, y, label=LABELS.get(way, way), ms=4, **STYLES[way])
            panel.set_title(f"H = {count}, {dtype} caches", fontsize="medium")
            panel.set_xscale("log", base=2)
            panel.set_yscale("log")
            panel.grid(alpha=0.3)
    for panel in panels[-1]:
        panel.set_xlabel("tokens")
    figure.supylabel("microseconds a layer")
    figure.suptitle(f"{record['machine']}, {record['date']}", fontsize="small")
    handles = {
        label: handle
        for panel in panels.flat
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles, loc="outside lower center", ncols=4, fontsize="small"
    )
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT.svg")
    options = parser.parse_args()
    draw(json.loads(options.file.read_text()), options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
