# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of the kv dialect: their text, and what they mean, in NumPy.

model is what a program is. generator makes one from a seed; it is the last of a
line of builders, each with one concern: builder, spellings, tokens, rows, caches
(with layouts and pools), readers, grids, writes and regions. refused spoils a
program. text and shapes print it. oracle, with values and stores, runs it; slots
and inputs make the arguments of a call.
"""

from .dtypes import ARRAYS
from .features import FEATURES
from .generator import generate
from .inputs import Input, make_input
from .model import Type
from .refused import SPOILERS
from .text import Program

__all__ = [
    "ARRAYS",
    "FEATURES",
    "SPOILERS",
    "Input",
    "Program",
    "Type",
    "generate",
    "make_input",
]
