# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes in kv IR that are refused, one for each reason."""

from . import caches, chains
from .case import HEAD_DIM, HEADER, HEADS, Case, marked_line, rows

__all__ = ["CASES", "HEADER", "HEADS", "HEAD_DIM", "Case", "marked_line", "rows"]

CASES = [*chains.CASES, *caches.CASES]
