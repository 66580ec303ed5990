# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which branches of the run-time guards a library has taken.

A library made with `COUNT` counts them in its global `kvfuse_branches`, and its
report says what each count is for.
"""

import ctypes
import json
import pathlib

from .abi import Library
from .compile import report_path

#: The option of kvfuse-compile.
COUNT = "--count-branches"


class BranchCounts:
    """The counts of a library made at `path`."""

    def __init__(self, library: Library, path: pathlib.Path) -> None:
        self.branches = json.loads(report_path(path).read_text())["branches"]
        array = ctypes.c_int64 * len(self.branches)
        self.counts = array.in_dll(library.library, "kvfuse_branches")

    def take(self) -> dict[str, int]:
        """Branch -> how often it ran since the last time, all functions together;
        what did not run is not there."""
        taken: dict[str, int] = {}
        for number, branch in enumerate(self.branches):
            if self.counts[number]:
                name = branch["branch"]
                taken[name] = taken.get(name, 0) + self.counts[number]
                self.counts[number] = 0
        return taken
