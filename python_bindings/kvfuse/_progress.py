# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Progress of a long compilation, on a terminal only."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

#: What the compiler tells of its work: steps done, steps in all, what comes next.
Progress = Callable[[int, int, str], None]

#: Seconds until a compilation counts as long.
LONG = 0.5


class _Line:
    """One line of standard error that is written anew as work goes on."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.width = 0

    def show(self, done: int, total: int, what: str) -> None:
        if time.monotonic() - self.start < LONG:
            return
        text = f"kvfuse: {what} ({done}/{total})"
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def wipe(self) -> None:
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


@contextlib.contextmanager
def shown() -> Iterator[Progress | None]:
    """Shows what is reported to the yielded function while a compilation lasts.

    None where standard error is not a terminal: nothing is written there.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    line = _Line()
    try:
        yield line.show
    finally:
        line.wipe()
