# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all Python tests share: import paths and the compiler."""

import logging
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "python"), str(HERE / "Exports"), str(HERE / "Field")]

# glibc fills what the compiler frees, so that a use after that does not pass by
# chance. It is read when a process starts.
os.environ["MALLOC_PERTURB_"] = "165"

# torch.export logs thousands of lines about itself that a failed test would show.
logging.getLogger("torch.__trace").propagate = False


@pytest.fixture(scope="session")
def compiler(tmp_path_factory):
    """kvfuse-compile, keeping its outputs for the length of the session."""
    from kvfuse_testing.compile import Compiler

    return Compiler(tmp_path_factory.mktemp("compiled"))
