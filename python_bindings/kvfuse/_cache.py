# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compile cache on disk."""

from __future__ import annotations

from . import _library


def cache_info() -> dict[str, str | int]:
    """Where the cache is, and what is in it.

    "path": its folder, "" if there is none; "entries"; "bytes"; "limit": the most
    bytes that it may hold; "hits" and "misses" of this process.
    """
    info = _library.compiler().cache_info()
    return {
        str(key): value if isinstance(value, int) else str(value)
        for key, value in info.items()
    }


def cache_clear() -> int:
    """Removes all entries; returns how many there were."""
    return _library.compiler().cache_clear()
