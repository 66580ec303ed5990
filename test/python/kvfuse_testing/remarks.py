# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the remarks that `kvfuse-compile --remarks` prints."""

import dataclasses
import re

#: file:line:column: remark: [Missed] order | Category:kvfuse | ... Cause=...
_REMARK = re.compile(
    r"^(?P<place>.+?):\d+: remark: \[(?P<kind>\w+)\] (?P<name>[\w-]+) \|(?P<rest>.*)$",
    re.MULTILINE,
)
_CAUSE = re.compile(r'Cause=.*?"[^"]*":(\d+):')


@dataclasses.dataclass(frozen=True)
class Remark:
    """A remark; lines are numbers in the input, None if there is none."""

    name: str
    kind: str
    line: int
    cause: int | None
    text: str


def read_remarks(stderr: str) -> list[Remark]:
    """The remarks in what the tool wrote to standard error, in its order."""
    remarks = []
    for match in _REMARK.finditer(stderr):
        cause = _CAUSE.search(match["rest"])
        remarks.append(
            Remark(
                match["name"],
                match["kind"],
                int(match["place"].rsplit(":", 1)[1]),
                int(cause[1]) if cause else None,
                match["rest"],
            )
        )
    return remarks
