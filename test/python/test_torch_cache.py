# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that Inductor takes from its cache find their compiled functions."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("torch")
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass

import kvfuse.torch
from kvfuse_testing import torch_cached

PACKAGES = [pathlib.Path(kvfuse.__file__).parents[1], pathlib.Path(__file__).parent]


def run(folder):
    """What a new process of torch_cached.py prints, with caches in `folder`."""
    result = subprocess.run(
        [sys.executable, torch_cached.__file__],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, [*PACKAGES, *sys.path])),
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "KVFUSE_CACHE_DIR": str(folder / "kvfuse"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_processes_share_a_cache(tmp_path):
    """The second process takes the graph from Inductor's cache, so that the pass does
    not run; nor does it need kvfuse's own cache."""
    assert run(tmp_path) == {"same": True, "hits": 0, "graphs": 1, "sites": 1}
    shutil.rmtree(tmp_path / "kvfuse")
    again = run(tmp_path)
    assert again.pop("hits") > 0
    assert again == {"same": True, "graphs": 0, "sites": 0}


class Other(CustomGraphPass):
    """A pass that counts what it is run on."""

    def __init__(self, uuid):
        self.identity = uuid
        self.count = 0

    def __call__(self, graph):
        self.count += 1

    def uuid(self):
        return self.identity


@pytest.fixture
def configured():
    """The pass that was configured before is there again after the test."""
    with config.patch(post_grad_custom_pre_pass=None):
        yield config
        kvfuse.torch.disable()


def test_identity_follows_options_and_other_passes(configured):
    """Inductor keeps apart what different passes made."""
    seen = set()
    for other in (None, Other("a"), Other("b")):
        for options in ({}, {"fuse": "off"}, {"reserved_slot": 3}, {"pdl": "off"}):
            configured.post_grad_custom_pre_pass = other
            kvfuse.torch.enable(**options)
            made = configured.post_grad_custom_pre_pass
            assert made.uuid() == made.uuid()
            seen.add(made.uuid())
    assert len(seen) == 12
    # What has no identity is not kept.
    configured.post_grad_custom_pre_pass = Other(None)
    kvfuse.torch.enable()
    assert configured.post_grad_custom_pre_pass.uuid() is None


def test_enable_chains_and_disable_restores(configured):
    other = Other("a")
    configured.post_grad_custom_pre_pass = other
    kvfuse.torch.enable()
    kvfuse.torch.enable(fuse="off")
    made = configured.post_grad_custom_pre_pass
    assert made.others == (other,)
    kvfuse.torch.disable()
    assert configured.post_grad_custom_pre_pass is other
    kvfuse.torch.disable()
    assert configured.post_grad_custom_pre_pass is other


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="page_size"):
        kvfuse.torch.enable(page_size=3)
    with pytest.raises(ValueError, match="pdl.*sometimes"):
        kvfuse.torch.enable(pdl="sometimes")
