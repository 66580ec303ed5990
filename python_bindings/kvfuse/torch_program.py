# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled functions of a graph, as one word that says how to compile them again."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import zlib
from collections.abc import Callable, Mapping

from . import _driver
from ._options import Options


@dataclasses.dataclass(frozen=True)
class Program:
    """The functions of `module @kvfuse`, and what they are compiled for."""

    text: str
    target: str
    options: Options

    @functools.cached_property
    def word(self) -> str:
        """All of it as one word, short as one kernel's text is."""
        defaults = dataclasses.asdict(Options())
        given = dataclasses.asdict(self.options)
        options = {name: x for name, x in given.items() if x != defaults[name]}
        fields = json.dumps([self.text, self.target, options])
        return base64.b85encode(zlib.compress(fields.encode(), 9)).decode()

    @staticmethod
    def from_word(word: str) -> Program:
        """The program that has this word."""
        text, target, options = json.loads(zlib.decompress(base64.b85decode(word)))
        return Program(text, target, Options(**options))


@functools.cache
def load(program: Program) -> Mapping[str, Callable[..., None]]:
    """The functions of `program` by name."""
    output = _driver.compile(
        program.text, target=program.target, emit="obj", options=program.options
    )
    return _driver.load(output.data)
