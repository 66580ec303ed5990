# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of the kv dialect: their text, and what they mean, in NumPy.

model is what a program is; generator (on builder, tokens and layouts) makes one
from a seed, refused spoils it, text prints it, and oracle runs it. slots and
inputs make the arguments of a call.
"""

from .dtypes import ARRAYS
from .generator import generate
from .inputs import Input, make_input
from .refused import SPOILERS
from .text import Program

__all__ = ["ARRAYS", "SPOILERS", "Input", "Program", "generate", "make_input"]
