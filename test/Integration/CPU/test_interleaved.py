# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated programs with MLIR's general passes between the stages of kvfuse.

An embedding compiler runs canonicalize and its like wherever it pleases. That
changes neither a byte nor, for the worse, the number of launches.
"""

import json
import pathlib
import random
import subprocess
from collections.abc import Sequence

import pytest

from kvfuse_testing import programs
from kvfuse_testing.compile import CompileError, Compiler, report_path
from kvfuse_testing.programs import Program, in_child, run_calls

OPTIONS = ("--target=cpu", "--emit=shared", "-O0")
GENERAL = [
    "canonicalize",
    "cse",
    "symbol-dce",
    "loop-invariant-code-motion",
    "inline",
]
#: Stages on the whole module, and on module @kvfuse, as kvfuse-to-gpu runs them.
OUTER = [
    "kv-fuse-chains",
    "kv-normalize-slices",
    "kv-fold-repeated-writes",
    "kv-group-writes",
    "kv-outline-writes",
]
INNER = [
    "convert-elementwise-to-linalg",
    "one-shot-bufferize{bufferize-function-boundaries analysis-heuristic=top-down"
    " function-boundary-type-conversion=fully-dynamic-layout-map}",
    "kv-check-in-place",
    "kv-merge-writes",
    "kv-version-layouts",
    "func.func(linalg-generalize-named-ops)",
    "convert-kv-to-gpu",
]
#: Programs in one module, and modules.
CHUNK = 8
MODULES = range(6)


def interleaved(rng: random.Random, stages: Sequence[str]) -> str:
    """The stages, in front of each and behind the last some of GENERAL."""
    made: list[str] = []
    for stage in [*stages, None]:
        made += rng.sample(GENERAL, rng.choice([0, 1, 2, len(GENERAL)]))
        made += [stage] if stage else []
    return ",".join(made)


def pipeline(rng: random.Random) -> str:
    """All stages with other passes between them."""
    inner = interleaved(rng, INNER)
    return f"builtin.module({interleaved(rng, OUTER)},builtin.module({inner}))"


def run_passes(compiler: Compiler, text: str, passes: str) -> str:
    """`text` behind a pipeline of kvfuse-opt."""
    tool = compiler.path.with_name("kvfuse-opt")
    command = [str(tool), f"--pass-pipeline={passes}"]
    done = subprocess.run(command, input=text.encode(), capture_output=True)
    if done.returncode:
        raise CompileError(done.stderr.decode())
    return done.stdout.decode()


def count_launches(path: pathlib.Path, chunk: Sequence[Program]) -> dict[str, int]:
    """Program -> how many kernels it launches."""
    kernels = json.loads(report_path(path).read_text())["kernels"]
    callers = [k["function"] for k in kernels if "min_tokens" not in k]
    return {program.name: callers.count(program.name) for program in chunk}


@pytest.mark.parametrize("module", MODULES)
def test_interleaved(compiler: Compiler, module: int):
    first = module * CHUNK
    chunk = [programs.generate(seed) for seed in range(first, first + CHUNK)]
    text = "\n".join(program.text() for program in chunk)
    passes = pipeline(random.Random(module))
    plain = compiler.compile(text, *OPTIONS)
    try:
        mixed = compiler.compile(run_passes(compiler, text, passes), *OPTIONS)
    except CompileError as error:
        pytest.fail(f"{passes}\n{error}")
    wrong = in_child(lambda: run_calls({"interleaved": mixed}, chunk))
    assert not wrong, "\n".join([passes, *wrong])
    before, after = count_launches(plain, chunk), count_launches(mixed, chunk)
    assert sum(before.values()) > CHUNK
    worse = {name: (n, after[name]) for name, n in before.items() if after[name] > n}
    assert not worse, passes
