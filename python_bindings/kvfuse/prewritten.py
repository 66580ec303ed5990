# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which layers' caches a fused write has filled already.

Some engines write K, V and index-K in separate calls: the indexer writes index-K and
reads it, the attention writes K and V and reads them. Where one fused call writes all
three ahead of both, each asks here whether its part is there, and writes it itself if
not.

The rule for failures: an error between the mark and its consumer leaves nothing
marked, so no later step takes old rows for new ones. A refused fusion still marks:
the unfused chain has written the same bytes.
"""

from __future__ import annotations

import contextlib
import enum
import threading
from collections.abc import Hashable, Iterator


class Part(enum.IntFlag):
    """What is written of a layer's caches."""

    KEY = 1
    VALUE = 2
    INDEX_KEY = 4


class PrewrittenLayers:
    """Marks of layers, keyed by the step that wrote them.

    A layer is any number, a step anything that compares equal to itself alone, such as
    the engine's step counter. All methods may be called from several threads.

        with layers.step():
            with layers.writing(layer, step, Part.KEY | Part.VALUE | Part.INDEX_KEY):
                write(k_cache, v_cache, index_cache, k, v, index_k, slots)
            ...
            if not layers.consume(layer, step, Part.INDEX_KEY):
                write_index(index_cache, index_k, slots)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[int, tuple[Hashable, Part]] = {}

    def mark(self, layer: int, step: Hashable, parts: Part) -> None:
        """`parts` of `layer` were written in `step`; marks of its other steps go."""
        with self._lock:
            marked_in, marked = self._marks.get(layer, (step, Part(0)))
            kept = marked if marked_in == step else Part(0)
            self._put(layer, step, kept | parts)

    def consume(self, layer: int, step: Hashable, parts: Part) -> bool:
        """Were all of `parts` written in `step`? Their marks are taken either way.

        After False the caller writes all of `parts`, those that were marked too.
        """
        with self._lock:
            marked_in, marked = self._marks.pop(layer, (step, Part(0)))
            if marked_in != step:
                return False
            self._put(layer, step, marked & ~parts)
            return parts & marked == parts

    def clear(self, layer: int | None = None) -> None:
        """Removes the marks of `layer`, or all marks."""
        with self._lock:
            if layer is None:
                self._marks.clear()
            else:
                self._marks.pop(layer, None)

    @contextlib.contextmanager
    def writing(self, layer: int, step: Hashable, parts: Part) -> Iterator[None]:
        """Marks `parts` at the end of a block that writes them, not after an error."""
        self.consume(layer, step, parts)  # What they say of earlier writes ends here.
        yield
        self.mark(layer, step, parts)

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around a step: at its end, or after an error in it, nothing is marked."""
        try:
            yield
        finally:
            self.clear()

    def _put(self, layer: int, step: Hashable, parts: Part) -> None:
        if parts:
            self._marks[layer] = step, parts
        else:
            self._marks.pop(layer, None)
