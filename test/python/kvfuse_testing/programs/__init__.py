# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of the kv dialect: their text, and what they mean, in NumPy.

model and function say what a program is. generator makes one from a seed; it is
the last of a line of builders, each with one concern: builder, spellings, tokens,
rows, caches (with layouts and pools), readers, grids, writes and regions. refused
spoils a program. text and shapes print it. oracle, with values and stores, runs
it; slots and inputs make the arguments of a call. calls runs what was compiled,
and checks compares.
"""

from .checks import in_child, run_calls
from .features import FEATURES
from .generator import generate
from .inputs import Input, make_input
from .refused import SPOILERS
from .text import Program

__all__ = [
    "FEATURES",
    "SPOILERS",
    "Input",
    "Program",
    "generate",
    "in_child",
    "make_input",
    "run_calls",
]
