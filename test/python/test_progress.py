# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kvfuse-compile's line of progress: on a terminal only, and gone at the end."""

from __future__ import annotations

import fcntl
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import termios
from typing import Any

import pytest

from kvfuse_testing.library import large_program, write_program

CLEAR = "\r\x1b[K"
OPTIONS = ("--mutates=auto", "--target=sm_90")


class Terminal:
    """kvfuse-compile with a pseudo-terminal as its standard error."""

    def __init__(
        self,
        compiler: Any,
        program: pathlib.Path,
        *options: str,
        term: str = "xterm-256color",
        columns: int = 80,
    ) -> None:
        self.descriptor, child = pty.openpty()
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(child, termios.TIOCSWINSZ, size)
        self.process = subprocess.Popen(
            [str(compiler.path), str(program), *OPTIONS, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=child,
            env={**os.environ, "TERM": term},
            # Of its own, so that a signal goes to it alone.
            start_new_session=True,
        )
        os.close(child)
        self.text = ""

    def read(self, until: str | None = None) -> str:
        """What was written, up to `until`, or all of it."""
        while until is None or until not in self.text:
            try:
                data = os.read(self.descriptor, 4096)
            except OSError:  # The other end is closed.
                break
            self.text += data.decode()
        return self.text

    def finish(self) -> tuple[int, str]:
        """Exit code, and all that was written on the terminal."""
        self.process.stdout.read()
        text = self.read()
        os.close(self.descriptor)
        return self.process.wait(), text


@pytest.fixture
def program(tmp_path: pathlib.Path) -> pathlib.Path:
    """A program of some length."""
    path = tmp_path / "program.mlir"
    path.write_text(large_program(12))
    return path


def test_a_line_on_a_terminal(compiler: Any, program: pathlib.Path) -> None:
    code, text = Terminal(compiler, program).finish()
    assert code == 0
    start, *lines, end = text.split(CLEAR)
    assert (start, end) == ("", "")
    shown = [re.fullmatch(r"\[(\d+)/6\] (.*)", line) for line in lines]
    assert all(shown)
    done = [int(match[1]) for match in shown]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 6)
    assert len({match[2] for match in shown}) > 3


def test_long_lines_do_not_wrap(compiler: Any, program: pathlib.Path) -> None:
    code, text = Terminal(compiler, program, columns=12).finish()
    assert code == 0
    lines = text.split(CLEAR)
    assert max(map(len, lines)) == 11


@pytest.mark.parametrize("term", ["dumb", ""])
def test_nothing_on_a_terminal_that_cannot_clear(
    compiler: Any, program: pathlib.Path, term: str
) -> None:
    assert Terminal(compiler, program, term=term).finish() == (0, "")


def test_nothing_in_a_pipe(compiler: Any, program: pathlib.Path) -> None:
    result = compiler.run(str(program), *OPTIONS)
    assert (result.returncode, result.stderr) == (0, b"")


def test_diagnostics_have_lines_of_their_own(
    compiler: Any, program: pathlib.Path
) -> None:
    read_only = write_program().replace("{bufferization.writable = true}", "")
    program.write_text(read_only)
    code, text = Terminal(compiler, program, "--mutates=").finish()
    assert code == 1
    errors = [line for line in text.split("\r\n") if "error: " in line]
    assert len(errors) == 1
    before, _, error = errors[0].rpartition(CLEAR)
    assert before.startswith(f"{CLEAR}[0/6] ")
    plain = re.sub(r"\x1b\[[\d;]*m", "", error)
    assert plain.startswith(f"{program}:7:10: error: cache-copied: ")
    assert error != plain


def test_an_interrupt_ends_it(
    compiler: Any, program: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    program.write_text(large_program(400))
    output = tmp_path / "out.ptx"
    terminal = Terminal(compiler, program, "-o", str(output))
    terminal.read("[3/6]")
    terminal.process.send_signal(signal.SIGINT)
    code, _ = terminal.finish()
    assert code in (-signal.SIGINT, 128 + signal.SIGINT)
    assert list(tmp_path.iterdir()) == [program]
