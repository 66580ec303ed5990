# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compile cache: hits, keys, damage, races, bounds, and folders that are not."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import signal
from collections.abc import Callable
from typing import Any

import pytest
from kvfuse_testing.library import (
    load_library,
    python,
    run_python,
    write_program,
)

PROGRAM = write_program()
REQUEST = (PROGRAM, "mutates=auto", "sm_90", "ptx", 2)


@dataclasses.dataclass
class Cache:
    """libkvfuse with a cache of its own."""

    library: Any
    folder: pathlib.Path

    def compile(self, *request: Any) -> tuple[bytes, str]:
        """Output and report."""
        output, report = self.library.compile(*(request or REQUEST), None)
        return bytes(output), report

    def info(self) -> dict[str, Any]:
        """cache_info()."""
        return dict(self.library.cache_info().items())

    def counts(self, *request: Any) -> tuple[int, int]:
        """Hits and misses of one compilation."""
        before = self.info()
        self.compile(*request)
        after = self.info()
        return after["hits"] - before["hits"], after["misses"] - before["misses"]

    def entries(self) -> list[pathlib.Path]:
        """The files of entries; there are no others, but for a time stamp."""
        files = set(self.folder.iterdir()) - {self.folder / "llvmcache.timestamp"}
        assert len(files) == self.info()["entries"]
        return sorted(files)


@pytest.fixture
def cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("KVFUSE_CACHE_DIR", str(folder))
    monkeypatch.delenv("KVFUSE_CACHE_SIZE", raising=False)
    return Cache(load_library(), folder)


HIT, MISS = (1, 0), (0, 1)


# Hits and misses.


def test_the_second_time_is_a_hit(cache: Cache) -> None:
    first = cache.compile()
    assert cache.counts() == HIT
    assert cache.compile() == first
    info = cache.info()
    assert info["path"] == str(cache.folder)
    assert (info["entries"], info["limit"]) == (1, 1 << 30)
    assert info["bytes"] == cache.entries()[0].stat().st_size > len(first[0])


def test_another_process_hits(cache: Cache) -> None:
    expected = cache.compile()
    code = """
import json, sys
from kvfuse_testing.library import load_library
library = load_library()
output, report = library.compile(*json.loads(sys.argv[1]), None)
info = library.cache_info()
print(json.dumps([bytes(output).decode(), report, info["hits"], info["misses"]]))
"""
    output, report, hits, misses = json.loads(run_python(code, json.dumps(REQUEST)))
    assert (output.encode(), report) == expected
    assert (hits, misses) == HIT


@pytest.mark.parametrize(
    "request_",
    [
        (PROGRAM + "\n", "mutates=auto", "sm_90", "ptx", 2),
        (PROGRAM, "mutates=auto fuse=off", "sm_90", "ptx", 2),
        (PROGRAM, "mutates=auto", "sm_100", "ptx", 2),
        (PROGRAM, "mutates=auto", "sm_90", "nvvm", 2),
        (PROGRAM, "mutates=auto", "sm_90", "ptx", 1),
    ],
    ids=["text", "options", "target", "emit", "opt_level"],
)
def test_all_of_the_request_is_in_the_key(cache: Cache, request_: tuple) -> None:
    assert cache.counts() == MISS
    assert cache.counts(*request_) == MISS
    assert cache.counts() == HIT
    assert len(cache.entries()) == 2


def test_parts_of_the_request_do_not_run_together(cache: Cache) -> None:
    assert cache.counts(PROGRAM, "mutates=auto", "sm_90", "ptx", 2) == MISS
    with pytest.raises(ValueError, match="unknown format '0ptx'"):
        cache.compile(PROGRAM, "mutates=auto", "sm_9", "0ptx", 2)


def test_ptxas_is_in_the_key_of_a_cubin(
    cache: Cache, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = (PROGRAM, "mutates=auto", "sm_90", "cubin", 2)
    tool = tmp_path / "ptxas"
    monkeypatch.setenv("KVFUSE_PTXAS", str(tool))
    for output in ("one", "another"):
        tool.write_text(f'#!/bin/sh\nprintf {output} > "$3"\n')
        tool.chmod(0o755)
        assert cache.counts(*request) == MISS
        assert cache.counts(*request) == HIT
        assert cache.compile(*request)[0] == output.encode()


def test_errors_are_not_kept(cache: Cache) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="is unknown"):
            cache.compile("bad", "", "cpu", "obj", 2)
    assert cache.info()["entries"] == 0


# Damage.


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda entry: b"",
    "cut in the header": lambda entry: entry[:20],
    "cut after the header": lambda entry: entry[:40],
    "cut at the end": lambda entry: entry[:-1],
    "longer": lambda entry: entry + b"\0",
    "another checksum": lambda entry: bytes([entry[0] ^ 1]) + entry[1:],
    "another size": lambda entry: entry[:32] + b"\xff" * 8 + entry[40:],
    "a bit of the report": lambda entry: entry[:50] + b"\x07" + entry[51:],
    "a bit of the output": lambda entry: entry[:-9] + b"\x07" + entry[-8:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_made_again(cache: Cache, damage: str) -> None:
    expected = cache.compile()
    (entry,) = cache.entries()
    whole = entry.read_bytes()
    entry.write_bytes(DAMAGE[damage](whole))
    assert entry.read_bytes() != whole
    assert cache.counts() == MISS
    assert entry.read_bytes() == whole
    assert cache.compile() == expected


def test_an_entry_of_another_key_is_not_taken(cache: Cache) -> None:
    expected = cache.compile()
    (entry,) = cache.entries()
    cache.compile(write_program(128), *REQUEST[1:])
    (other,) = set(cache.entries()) - {entry}
    entry.write_bytes(other.read_bytes())
    assert cache.counts() == MISS
    assert cache.compile() == expected


# Many processes.


RACE = """
import json, os, sys, time
from kvfuse_testing.library import load_library, write_program
library = load_library()
ready, start = sys.argv[1:]
open(ready, "w").close()
while not os.path.exists(start):
    time.sleep(0.001)
results = []
for _ in range(2):
    for size in (32, 64, 96):
        output, report = library.compile(
            write_program(size), "mutates=auto", "sm_90", "ptx", 2, None
        )
        results.append([bytes(output).decode(), report])
print(json.dumps(results))
"""


def test_eight_processes_race(cache: Cache, tmp_path: pathlib.Path) -> None:
    ready = [tmp_path / f"ready{i}" for i in range(8)]
    start = tmp_path / "start"
    processes = [python(RACE, str(path), str(start)) for path in ready]
    while not all(path.exists() for path in ready):
        assert all(process.poll() is None for process in processes)
    start.touch()
    outputs = []
    for process in processes:
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        outputs.append(json.loads(output))
    expected = [
        [output.decode(), report]
        for output, report in (
            cache.compile(write_program(size), *REQUEST[1:]) for size in (32, 64, 96)
        )
    ]
    assert outputs == [expected * 2] * 8
    assert len(cache.entries()) == 3
    assert cache.info()["hits"] >= 3


KILLED = """
from kvfuse_testing.library import load_library, write_program
library = load_library()
for size in range(8, 4096, 8):
    library.compile(write_program(size), "mutates=auto", "sm_90", "ptx", 2, None)
    print(size, flush=True)
"""


def test_a_killed_process_leaves_whole_entries(cache: Cache) -> None:
    process = python(KILLED)
    for _ in range(3):
        process.stdout.readline()
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    for size in (8, 16, 24):
        assert cache.counts(write_program(size), *REQUEST[1:]) == HIT


INTERRUPTED = """
import signal, sys, tvm_ffi
from kvfuse_testing.library import large_program, load_library
tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)
def progress(done, total, what):
    if done == total - 1:
        signal.raise_signal(signal.SIGINT)
try:
    load_library().compile(
        large_program(4), "mutates=auto", "cpu", "obj", 2, progress
    )
except KeyboardInterrupt:
    sys.exit(3)
"""


def test_an_interrupted_compilation_leaves_nothing(cache: Cache) -> None:
    process = python(INTERRUPTED)
    output, errors = process.communicate()
    assert (process.returncode, output) == (3, ""), errors
    assert cache.info()["entries"] == 0
    assert not cache.folder.exists()


SIGNAL_AFTERWARDS = """
import signal
from kvfuse_testing.library import load_library, write_program
library = load_library()
library.compile(write_program(), "mutates=auto", "cpu", "shared", 2, None)
assert library.cache_info()["entries"] == 1
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("Python handled it")
"""


def test_signals_stay_pythons(cache: Cache) -> None:
    assert run_python(SIGNAL_AFTERWARDS) == "Python handled it\n"


# Bounds.


def test_the_size_is_bounded(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [(write_program(size), *REQUEST[1:]) for size in (32, 64, 96, 128)]
    cache.compile(*requests[0])
    size = cache.info()["bytes"]
    monkeypatch.setenv("KVFUSE_CACHE_SIZE", str(3 * size + size // 2))
    for request in requests[1:3]:
        cache.compile(*request)
    assert cache.counts(*requests[0]) == HIT
    # The fourth is one too many, and the second was not used for longest.
    cache.compile(*requests[3])
    info = cache.info()
    assert info["entries"] == 3
    assert info["bytes"] <= info["limit"] == 3 * size + size // 2
    assert cache.counts(*requests[0]) == HIT
    assert cache.counts(*requests[1]) == MISS


@pytest.mark.parametrize(
    ("size", "limit"), [("4096", 4096), ("16k", 16384), ("2m", 2 << 20)]
)
def test_sizes(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, size: str, limit: int
) -> None:
    monkeypatch.setenv("KVFUSE_CACHE_SIZE", size)
    assert cache.info()["limit"] == limit


@pytest.mark.parametrize("size", ["", "0", "-1", "much", "1t"])
def test_bad_sizes(cache: Cache, monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    monkeypatch.setenv("KVFUSE_CACHE_SIZE", size)
    for call in (cache.compile, cache.info):
        with pytest.raises(ValueError, match=f"KVFUSE_CACHE_SIZE: .*'{size}'"):
            call()


def test_clear(cache: Cache) -> None:
    for size in (32, 64):
        cache.compile(write_program(size), *REQUEST[1:])
    (cache.folder / "not-ours").write_text("kept")
    assert cache.library.cache_clear() == 2
    assert cache.info()["entries"] == cache.info()["bytes"] == 0
    assert cache.library.cache_clear() == 0
    assert (cache.folder / "not-ours").read_text() == "kept"
    assert cache.counts(write_program(32), *REQUEST[1:]) == MISS


# Folders.


def test_an_empty_folder_turns_it_off(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVFUSE_CACHE_DIR", "")
    assert cache.counts() == cache.counts() == (0, 0)
    assert cache.info()["path"] == ""
    assert cache.library.cache_clear() == 0


def test_the_default_is_the_users_folder(
    cache: Cache, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KVFUSE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.info()["path"] == str(tmp_path / "xdg" / "kvfuse")
    assert cache.counts() == MISS
    assert cache.counts() == HIT
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.info()["path"] == str(tmp_path / ".cache" / "kvfuse")


def test_a_folder_that_cannot_be_made(
    cache: Cache, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = cache.compile()
    (tmp_path / "file").touch()
    monkeypatch.setenv("KVFUSE_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert cache.counts() == cache.counts() == MISS
    assert cache.compile() == expected
    assert (cache.info()["entries"], cache.library.cache_clear()) == (0, 0)


FULL = """
import resource
from kvfuse_testing.library import load_library, write_program
library = load_library()
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for _ in range(2):
    output, _ = library.compile(
        write_program(), "mutates=auto", "sm_90", "ptx", 2, None
    )
print(len(output), library.cache_info()["entries"])
"""


def test_a_full_disk(cache: Cache) -> None:
    length = len(cache.compile()[0])
    cache.library.cache_clear()
    assert run_python(FULL).split() == [str(length), "0"]
    assert cache.entries() == []


def test_only_the_user_may_write_it(cache: Cache) -> None:
    cache.compile()
    assert cache.folder.stat().st_mode & 0o777 == 0o700
