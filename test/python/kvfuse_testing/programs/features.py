# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs may have besides plain layers, and how often."""

#: Feature -> its probability wherever a program could have it.
FEATURES = {
    # Index values
    "spelling": 0.3,
    "mixed-division": 0.02,
    "recomposed": 0.2,
    "index-overflow": 1.0,
    # Grids of tokens
    "two-dimensional": 0.1,
    "unit-dimension": 0.06,
    "heads-grid": 0.1,
    "flattened": 0.3,
    # Values
    "scale": 0.15,
    "clamp": 0.1,
    # Caches
    "pool": 0.2,
    "early-slice": 0.2,
    "boxes": 0.1,
    # Control flow
    "conditional": 0.08,
    "prewritten": 0.12,
    "loop": 0.06,
    # Readers
    "part-read": 0.2,
}
