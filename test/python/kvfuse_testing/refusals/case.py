# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A refused write in kv IR, and what the cases are put together from."""

import dataclasses
from collections.abc import Callable

import numpy as np

PAGES, PAGE, HEADS, HEAD_DIM = 4, 4, 2, 8
CACHE = (PAGES, PAGE, HEADS, HEAD_DIM)
SLOTS = np.array([5, 0, 15, 7, 8], np.int64)

HEADER = """
!cache = tensor<4x4x2x8xf32>
!rows = tensor<?x2x8xf32>
!slots = tensor<?xi64>
#pair = affine_map<(t, p, o, h, d) -> (p, o, h, d)>
#slot = affine_map<(t, s, h, d) -> (s floordiv 4, s mod 4, h, d)>
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """A program @main, its arguments, and what it leaves in those that change."""

    reason: str
    program: str
    #: Makes the arguments anew for every call.
    arguments: Callable[[], list[np.ndarray | int]]
    #: Does to the arguments what the program does.
    oracle: Callable[..., None]


def rows(tokens: int = len(SLOTS), seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random((tokens, HEADS, HEAD_DIM), np.float32)


def cache(seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).random(CACHE, np.float32)


def put(target: np.ndarray, slots: np.ndarray, values: np.ndarray) -> None:
    """The plain paged write."""
    target[slots // PAGE, slots % PAGE] = values


def marked_line(program: str, mark: str) -> int | None:
    """The line of the program that ends in `// mark`, counted from one."""
    lines = (HEADER + program).splitlines()
    return next(
        (n for n, line in enumerate(lines, 1) if line.endswith("// " + mark)), None
    )
