# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/minimax_m3_step and its benchmarks run, and check what they do."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "minimax_m3_step"
LAYERS = 60


def run(*command: str | pathlib.Path, **variables: str) -> str:
    """What a script prints; it has to end with exit code 0."""
    search = os.pathsep.join([str(ROOT / "python_bindings"), *sys.path])
    result = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": search} | os.environ | variables,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_sixty_layers(tmp_path: pathlib.Path) -> None:
    """The whole step: outputs and caches agree, and a launch a layer is left."""
    results = tmp_path / "step.json"
    run(ROOT / "benchmarks" / "step.py", "--rounds=1", f"--json={results}")
    chain, fused = json.loads(results.read_text())["figures"]
    assert fused["write_launches"] == LAYERS
    assert chain["write_launches"] >= 12 * LAYERS
    for figures in (chain, fused):
        assert figures["same_outputs"]
        assert figures["same_caches"]


@pytest.mark.parametrize(
    "what", ["layer", pytest.param("step", marks=pytest.mark.long)]
)
def test_under_torch_compile(tmp_path: pathlib.Path, what: str) -> None:
    """In bf16: Inductor itself cannot compile the chain of an fp8 pool for a CPU."""
    out = run(
        EXAMPLE / "demo.py",
        *("--layers=1,1", "--rounds=1", f"--compile={what}", "--cache=bf16"),
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path),
    )
    (line,) = [line for line in out.splitlines() if "torch.compile, kvfuse" in line]
    assert line.split()[2:3] == ["2"], out


def test_ranks_share_the_compile_cache(tmp_path: pathlib.Path) -> None:
    out = run(
        *("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"),
        EXAMPLE / "ranks.py",
        *("--layers=1,1", "--rounds=1"),
        KVFUSE_CACHE_DIR=str(tmp_path / "cache"),
    )
    lines = [line.split() for line in out.splitlines() if line.endswith("yes")]
    heads, ranks, hits = zip(*(map(int, line[:3]) for line in lines), strict=True)
    assert heads == (1, 1, 2, 2, 4, 4)
    assert ranks == (0, 1) * 3
    assert hits == (0, 2) * 3


def test_call_overhead(tmp_path: pathlib.Path) -> None:
    """The benchmark compares bytes before it measures."""
    results = tmp_path / "calls.json"
    run(
        ROOT / "benchmarks" / "call_overhead.py",
        *("--rounds=2", "--calls=5", f"--json={results}"),
    )
    ways = {figure["way"] for figure in json.loads(results.read_text())["figures"]}
    assert {"kvfuse", "torch chain"} <= ways
