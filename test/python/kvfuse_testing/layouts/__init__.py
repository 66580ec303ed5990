# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layout matrix: caches of every layout, head dimension, page size, number of
heads, type and alignment, what must be in them after a write, and which branch of
the guards must have put it there.

model says what the cells are, text writes the function under test, storage lays
out the buffers of a cell, oracle writes them in NumPy, branches derives the
expected branch from the layout, covering picks samples, run calls the library.
"""
