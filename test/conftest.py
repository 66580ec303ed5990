# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all Python tests share: import paths and the compiler."""

import logging
import os
import pathlib
import signal
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("python", "Exports", "Field", "../python_bindings")
sys.path[:0] = [str((HERE / folder).resolve()) for folder in FOLDERS]

# The libraries lie beside the programs of the build that is tested.
if "KVFUSE_BIN_DIR" in os.environ and "KVFUSE_LIB_DIR" not in os.environ:
    built = pathlib.Path(os.environ["KVFUSE_BIN_DIR"]).resolve().parent
    os.environ["KVFUSE_LIB_DIR"] = str(built / "lib")

# A compile cache that is empty at first, and gone at the end.
if "KVFUSE_CACHE_DIR" not in os.environ:
    cache = tempfile.TemporaryDirectory(prefix="kvfuse-cache-")
    os.environ["KVFUSE_CACHE_DIR"] = cache.name

# glibc fills what the compiler frees, so that a use after that does not pass by
# chance. It is read when a process starts.
os.environ["MALLOC_PERTURB_"] = "165"

# A shell has what it starts in the background ignore interrupts, and so would the
# programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# torch.export logs thousands of lines about itself that a failed test would show.
logging.getLogger("torch.__trace").propagate = False


@pytest.fixture(scope="session")
def compiler(tmp_path_factory):
    """kvfuse-compile, keeping its outputs for the length of the session."""
    from kvfuse_testing.compile import Compiler

    return Compiler(tmp_path_factory.mktemp("compiled"))
