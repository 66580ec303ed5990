# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiler's report as text to read, and its branch counts by site."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Sequence
from typing import Any

#: The branch in which the caches of a site are written one after the other.
_APART = "apart"
#: What begins a guard that has to hold for one kernel to write all of them.
_TOGETHER = "together: "


def explain(report: dict[str, Any], target: str) -> str:
    """What was fused, what was not and why, by line of the model's code."""
    lines: list[str] = []
    for function in report["functions"]:
        lines += _function(function, target)
    if not lines:
        lines.append(f"no cache write was found; nothing is compiled for {target}")
    elif report["assumptions"]:
        lines.append("relied on, and not tested:")
        lines += [f"  {assumption}" for assumption in report["assumptions"]]
    return "\n".join(lines)


def _function(function: dict[str, Any], target: str) -> Iterator[str]:
    before, after = function["launches_unfused"], function["launches"]
    yield f"{function['name']}, for {target}: {_count(before, 'launch')} before, {after} after"
    if "calls" in function:
        calls = _count(len(function["calls"]), "call")
        yield f"  the graph stays, with {calls} of compiled functions in it"
    for site in function["fused"]:
        caches = _count(site["destinations"], "cache")
        yield f"  fused at {site['location']}: {caches} in one kernel"
        yield from _source(site["location"])
        if site["guards"]:
            yield "    tested at run time, in order:"
            yield from (f"      {guard}" for guard in site["guards"])
    for site in function["refused"]:
        yield f"  not fused at {site['location']}: {site['reason']}"
        yield from _source(site["location"])
        found, _, change = site["detail"].partition("; ")
        yield f"    why: {found}"
        if change:
            yield f"    change: {change}"
        yield f"    more: docs/refusals.md#{site['reason']}"


def _count(number: int, noun: str) -> str:
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{'' if number == 1 else plural}"


def _source(location: str) -> Iterator[str]:
    """The line of code at a location "file:line:column", where it can be read."""
    match = re.fullmatch(r"(.+):(\d+):\d+", location)
    line = linecache.getline(match[1], int(match[2])).strip() if match else ""
    if line:
        yield f"    | {line}"


def count_by_site(report: dict[str, Any], counts: Sequence[int]) -> dict[str, Any]:
    """Counts of branches, by site.

    {"calls": n, "fused": n, "fallback": n, "sites": [...]}, each site with its
    "function", "location", "calls", "fused" by version of the kernel, "fallback" (its
    caches were written one after the other), and "why": the guards of which one did
    not hold then.
    """
    sites: dict[tuple[str, str], dict[str, Any]] = {}
    for branch, count in zip(report["branches"], counts, strict=True):
        key = branch["function"], branch["location"]
        site = sites.setdefault(
            key,
            {
                "function": branch["function"],
                "location": branch["location"],
                "calls": 0,
                "fused": {},
                "fallback": 0,
                "why": [],
            },
        )
        site["calls"] += count
        if branch["branch"] == _APART:
            site["fallback"] += count
            site["why"] = _together_guards(report, branch["location"])
        else:
            site["fused"][branch["branch"]] = count
    return {
        "calls": sum(site["calls"] for site in sites.values()),
        "fused": sum(sum(site["fused"].values()) for site in sites.values()),
        "fallback": sum(site["fallback"] for site in sites.values()),
        "sites": list(sites.values()),
    }


def _together_guards(report: dict[str, Any], location: str) -> list[str]:
    return [
        guard.removeprefix(_TOGETHER)
        for function in report["functions"]
        for site in function["fused"]
        if site["location"] == location
        for guard in site["guards"]
        if guard.startswith(_TOGETHER)
    ]
