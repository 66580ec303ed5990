# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long compilations: progress on a terminal, silence in a pipe, interrupts."""

import contextlib
import io
import os
import signal

import pytest

import kvfuse
from kvfuse import _progress
from kvfuse_testing.package import make_inputs, write_layer


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KVFUSE_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize(("stream", "shows"), [(Terminal, True), (io.StringIO, False)])
def test_progress_is_for_terminals(monkeypatch, stream, shows):
    """One line, written anew, and wiped when the work is done."""
    written = stream()
    monkeypatch.setattr(_progress, "LONG", 0.0)
    monkeypatch.setattr("sys.stderr", written)
    kvfuse.compile(write_layer, make_inputs().arguments)
    text = written.getvalue()
    assert bool(text) == shows
    if shows:
        assert "\n" not in text
        *steps, last = text.split("\r")[1:]
        assert steps[0].startswith("kvfuse: ") and not last.strip()
        assert len({step.strip() for step in steps}) > 2


def test_short_work_shows_nothing(monkeypatch):
    written = Terminal()
    monkeypatch.setattr(_progress, "LONG", 1000.0)
    monkeypatch.setattr("sys.stderr", written)
    kvfuse.compile(write_layer, make_inputs().arguments)
    assert not written.getvalue()


def test_an_interrupt_ends_a_compilation(monkeypatch):
    """Between two stages; compiling goes on after it."""
    seen = []

    def interrupt(done: int, total: int, what: str) -> None:
        seen.append(what)
        if len(seen) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    @contextlib.contextmanager
    def shown():
        yield interrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(_progress, "shown", shown)
        kvfuse.compile(write_layer, make_inputs().arguments)
    assert len(seen) == 1
    kvfuse.compile(write_layer, make_inputs().arguments)
