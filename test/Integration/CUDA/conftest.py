# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of compiled torch functions on a GPU; `make check-gpu` runs them."""

import os
import pathlib
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch

HERE = pathlib.Path(__file__).resolve().parent
TEST_MODULES = HERE.parents[1] / "python"
sys.path.insert(0, str(TEST_MODULES))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips what is here where there is no GPU."""
    if torch.cuda.is_available():
        return
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


@pytest.fixture
def run_child() -> Callable[[str], str]:
    """Runs Python code in a process of its own; returns what it printed.

    The process must end with exit code 0: an error that the code expects is caught
    there, and a crash is a failure here.
    """

    def run(code: str) -> str:
        search = os.pathsep.join([str(TEST_MODULES), *sys.path])
        child = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env=os.environ | {"PYTHONPATH": search},
        )
        assert child.returncode == 0, child.stdout + child.stderr
        return child.stdout

    return run
