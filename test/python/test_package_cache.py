# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compile cache from Python, and the command that shows it."""

import os
import subprocess
import sys

import pytest

import kvfuse
from kvfuse_testing.package import make_inputs, write_layer


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of this test's own."""
    monkeypatch.setenv("KVFUSE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "kvfuse", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=os.path.dirname(os.path.dirname(kvfuse.__file__)),
        env=os.environ | variables,
    )


def test_the_second_compilation_is_a_hit(cache):
    before = kvfuse.cache_info()
    assert before["path"] == str(cache) and before["entries"] == 0
    first = kvfuse.compile(write_layer, make_inputs().arguments)
    second = kvfuse.compile(write_layer, make_inputs().arguments)
    after = kvfuse.cache_info()
    assert after["entries"] == 1 and 0 < after["bytes"] < after["limit"]
    assert after["hits"] - before["hits"] == 1
    assert second.report == first.report
    kvfuse.compile(write_layer, make_inputs().arguments, count_branches=False)
    assert kvfuse.cache_info()["entries"] == 2
    assert kvfuse.cache_clear() == 2
    assert kvfuse.cache_info()["entries"] == 0


def test_the_command_shows_and_clears(cache):
    kvfuse.compile(write_layer, make_inputs().arguments)
    shown = run("cache")
    assert shown.returncode == 0 and not shown.stderr
    lines = dict(line.split(maxsplit=1) for line in shown.stdout.splitlines())
    assert lines["folder"] == str(cache) and lines["entries"] == "1"
    assert run("cache", "info").stdout == shown.stdout
    assert run("cache", "path").stdout == f"{cache}\n"
    assert run("cache", "clear").stdout == "removed 1 entry\n"
    assert "entries  0" in run("cache").stdout


def test_wrong_commands_are_errors():
    for arguments in ([], ["cache", "burn"], ["compile"]):
        result = run(*arguments)
        assert result.returncode == 2 and "usage: kvfuse" in result.stderr


def test_a_missing_library_is_one_line(tmp_path):
    """A copy of the package without libraries beside it."""
    import pathlib
    import shutil

    package = pathlib.Path(kvfuse.__file__).parent
    ignore = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(package, tmp_path / "a" / "kvfuse", ignore=ignore)
    result = subprocess.run(
        [sys.executable, "-m", "kvfuse", "cache"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path / "a",
        env=os.environ
        | {"KVFUSE_LIB_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert result.returncode == 1
    assert "libkvfuse_runtime.so is in none of" in result.stderr
    assert "make build" in result.stderr and result.stderr.count("\n") == 1
