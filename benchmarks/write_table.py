#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of write_kernel as tables in Markdown.

    benchmarks/write_table.py FILE.json [--key us|us_between] [--of WAY]

A row for each case, a column for each way: microseconds a layer, or with --of the
ratio to that way's.
"""

import argparse
import json
import pathlib
import sys


def rows_of(
    figures: list[dict], key: str, of: str | None
) -> dict[str, dict[str, float]]:
    """Case -> way -> figure. Cases without figures of `key` are left out."""
    rows: dict[str, dict[str, float]] = {}
    for figure in figures:
        if key in figure:
            rows.setdefault(figure["case"], {})[figure["way"]] = figure[key]
    if of is None:
        return rows
    return {
        case: {way: taken / row[of] for way, taken in row.items()}
        for case, row in rows.items()
        if of in row
    }


def table(rows: dict[str, dict[str, float]]) -> str:
    """The table; ways in the order in which they first appear."""
    ways = list(dict.fromkeys(way for row in rows.values() for way in row))
    lines = [["case", *ways], ["---", *("---:" for _ in ways)]]
    for case, row in rows.items():
        lines.append([case, *(f"{row[way]:.2f}" if way in row else "" for way in ways)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--key", choices=("us", "us_between"), default="us")
    parser.add_argument("--of", metavar="WAY")
    options = parser.parse_args()
    figures = json.loads(options.file.read_text())["figures"]
    print(table(rows_of(figures, options.key, options.of)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
