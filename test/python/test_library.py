# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libkvfuse.so: compile, load and call in this process; errors; threads; signals."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import re
import signal
import subprocess
from typing import Any

import pytest
from kvfuse_testing.library import (
    large_program,
    library_folder,
    load_library,
    python,
    write_program,
)

PROGRAM = write_program()


@pytest.fixture(scope="module")
def library() -> Any:
    """The functions of libkvfuse.so."""
    return load_library()


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tested here is compiled each time."""
    monkeypatch.setenv("KVFUSE_CACHE_DIR", "")


def compile_text(library: Any, text: str = PROGRAM, **changes: Any) -> Any:
    """compile(...) with defaults for the CPU."""
    request = {
        "options": "mutates=auto",
        "target": "cpu",
        "emit": "obj",
        "opt_level": 2,
        "progress": None,
        **changes,
    }
    return library.compile(text, *request.values())


# Compile.


@pytest.mark.parametrize(
    ("target", "emit", "expected"),
    [
        ("sm_90", "kv", b"kv.write"),
        ("sm_90", "gpu", b"gpu.launch_func"),
        ("sm_90", "nvvm", b"nvvm.kernel"),
        ("sm_90", "ptx", b".visible .entry"),
        ("sm_90", "", b".visible .entry"),
        ("cpu", "llvm", b"define"),
        ("cpu", "obj", b"\x7fELF"),
        ("cpu", "", b"\x7fELF"),
        ("cpu", "shared", b"\x7fELF"),
    ],
)
def test_formats(library: Any, target: str, emit: str, expected: bytes) -> None:
    output, report = compile_text(library, target=target, emit=emit)
    assert expected in bytes(output)
    (function,) = json.loads(report)["functions"]
    assert function["name"] == "write"
    assert function["launches"] == 1


def test_it_is_the_command_line_tool(
    library: Any,
    compiler: Any,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Of the same name, for it is part of the output.
    monkeypatch.chdir(tmp_path)
    pathlib.Path("input").write_text(PROGRAM)
    options = ("--mutates=auto", "--target=sm_90", "--report=report.json")
    result = compiler.run("input", *options)
    assert result.returncode == 0, result.stderr.decode()
    output, report = compile_text(library, target="sm_90", emit="ptx")
    assert bytes(output) == result.stdout
    assert report == pathlib.Path("report.json").read_text()


def test_version(library: Any) -> None:
    assert re.fullmatch(r"kvfuse \d+\.\d+\.\d+, LLVM 22\.\S+", library.version())


def test_only_tvm_ffi_functions_are_visible() -> None:
    path = str(library_folder() / "libkvfuse.so")
    command = ["nm", "--dynamic", "--defined-only", "--format=posix", path]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    assert "__tvm_ffi_compile" in names
    assert [name for name in names if not name.startswith("__tvm_ffi_")] == []


# Errors.


def test_diagnostics_are_the_error(library: Any, capfd: Any) -> None:
    read_only = PROGRAM.replace("{bufferization.writable = true}", "")
    with pytest.raises(RuntimeError) as raised:
        compile_text(library, read_only, options="")
    message = str(raised.value)
    assert "input:7:10: error: cache-copied: argument 2 of 'write'" in message
    assert "%new = kv.write at(" in message
    assert "note: declare the caches that may be written" in message
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"options": "no-such=1"}, "no such option no-such"),
        ({"options": "fuse=maybe"}, "bad value in the options 'fuse=maybe'"),
        ({"target": "sm_20"}, "unknown target 'sm_20'"),
        ({"emit": "exe"}, "unknown format 'exe'"),
        ({"emit": "ptx"}, "go with a GPU target"),
        ({"opt_level": 4}, "-O0 to -O3"),
        ({"opt_level": -1}, "-O0 to -O3"),
    ],
)
def test_wrong_requests(library: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        compile_text(library, **changes)


@pytest.mark.parametrize("text", ["", "not MLIR", "module {"])
def test_wrong_text(library: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match="error: "):
        compile_text(library, text)


# Threads.


def test_threads_compile_at_once(library: Any) -> None:
    sizes = [16, 24, 32, 48, 64, 96, 128, 256]
    programs = [write_program(size) for size in sizes]

    def run(program: str) -> tuple[bytes, str]:
        output, report = compile_text(library, program, target="sm_90", emit="ptx")
        return bytes(output), report

    expected = [run(program) for program in programs]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, programs)) == expected
    assert len({output for output, _ in expected}) == len(programs)


def test_an_error_in_one_thread_is_not_anothers(library: Any) -> None:
    programs = [PROGRAM, "bad", PROGRAM, "bad"]

    def run(program: str) -> str:
        try:
            return bytes(compile_text(library, program)[0])[:4].decode("latin-1")
        except RuntimeError as error:
            return str(error)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        good, bad, *rest = pool.map(run, programs)
    assert good == "\x7fELF"
    assert "custom op 'bad' is unknown" in bad
    assert rest == [good, bad]


# Progress, and stopping.


def test_progress(library: Any) -> None:
    calls: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, what: str) -> None:
        calls.append((done, total, what))

    compile_text(library, large_program(4), progress=progress)
    assert calls == sorted(calls, key=lambda call: call[0])
    (total,) = {total for _, total, _ in calls}
    assert calls[-1] == (total, total, "")
    assert len({what for _, _, what in calls}) > 3


def test_what_a_callback_raises_comes_out(library: Any) -> None:
    calls = 0

    def progress(done: int, total: int, what: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyError(what)

    with pytest.raises(KeyError):
        compile_text(library, large_program(4), progress=progress)
    assert calls == 3


INTERRUPTED = """
import sys, tvm_ffi
from kvfuse_testing.library import large_program, load_library
# For a signal that arrives while the callback runs.
tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)
library, program, calls = load_library(), large_program(400), []
def progress(*call):
    calls.append(call)
    if len(calls) == 5:
        print("compiling", flush=True)
try:
    library.compile(program, "mutates=auto", sys.argv[1], "", 2, progress)
except KeyboardInterrupt:
    done, total, _ = calls[-1]
    print("stopped early" if done < total else "too late", flush=True)
    sys.exit(3)
"""


@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_an_interrupt_stops_it(target: str) -> None:
    process = python(INTERRUPTED, target)
    assert process.stdout.readline() == "compiling\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert (process.returncode, output) == (3, "stopped early\n"), errors
