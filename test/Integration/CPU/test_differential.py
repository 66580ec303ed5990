# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated programs, fused and unfused, against a NumPy interpreter of them.

Programs have consecutive seeds, so that a failure can be repeated alone; its
message has the seed and the text. Many programs make one module, since most of
the time goes into compiling.
"""

import concurrent.futures
import itertools
import json
import pathlib
import random
import re
from collections.abc import Iterator, Sequence

import pytest

from kvfuse_testing import programs
from kvfuse_testing.compile import CompileError, Compiler, report_path
from kvfuse_testing.programs import Program, in_child, run_calls

FUSE = ("--fuse=on", "--fuse=off")
OPTIONS = ("--target=cpu", "--emit=shared", "-O0")
#: Programs in one module.
CHUNK = 25
#: Seeds that `make check` runs, and those that `make check-long` adds.
SEEDS = range(500)
LONG_SEEDS = range(500, 10_000)
#: At least this share of the writes must share a kernel.
LEAST_SHARE = 0.4

# -- Running


def compile_both(compiler: Compiler, text: str) -> dict[str, pathlib.Path]:
    """Compiles `text` in both ways, side by side."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        paths = pool.map(lambda way: compiler.compile(text, *OPTIONS, way), FUSE)
        return dict(zip(FUSE, paths, strict=True))


def run_programs(compiler: Compiler, chunk: Sequence[Program]) -> list[str]:
    """Compiles the programs as one module, calls them, and says what is wrong."""
    try:
        paths = compile_both(compiler, "\n".join(p.text() for p in chunk))
    except CompileError as error:
        return [str(error)]
    return in_child(lambda: run_calls(paths, chunk))


def explain(compiler: Compiler, program: Program) -> str:
    """What is wrong with one program, and its text; empty if nothing is."""
    wrong = run_programs(compiler, [program])
    return "\n".join([*wrong, program.text()]) if wrong else ""


def check_chunk(compiler: Compiler, seeds: range) -> None:
    """Runs the programs together; if anything is wrong, alone up to the first one
    at fault."""
    chunk = [programs.generate(seed) for seed in seeds]
    wrong = run_programs(compiler, chunk)
    if wrong:
        alone = (explain(compiler, program) for program in chunk)
        pytest.fail(next(filter(None, alone), "\n".join(wrong)))


# -- What is fused

#: Programs that are looked at for each feature; a few have fewer.
SAMPLE = 12
#: Feature -> the least share of writes that are fused where it is in use. Some
#: writes are folded, and some are refused for other reasons.
LEAST_FUSED = {feature: 0.8 for feature in programs.FEATURES} | {
    # Writes of these are refused.
    "mixed-division": 0.5,
    "index-overflow": 0.5,
}
#: At most this share of the launches is left.
MOST_LAUNCHES = 0.45


def fusion_reports(compiler: Compiler, chunk: Sequence[Program]) -> list[dict]:
    """What the compiler says of each program when it fuses them."""
    text = "\n".join(program.text() for program in chunk)
    path = compiler.compile(text, "--target=cpu", "--emit=kv", "--fuse=on")
    report = json.loads(report_path(path).read_text())
    functions = {function["name"]: function for function in report["functions"]}
    return [functions[program.name] for program in chunk]


def count_destinations(programs: Sequence[Program]) -> int:
    """How many caches are written, all programs and writes together."""
    writes = [write for program in programs for write in program.writes()]
    return sum(len(write.destinations) for write in writes)


@pytest.mark.parametrize("feature", [f for f, p in programs.FEATURES.items() if p])
def test_feature_is_fused(compiler, feature):
    """The programs would also agree if nothing were fused."""
    found = (p for p in map(programs.generate, SEEDS) if feature in p.features)
    sample = list(itertools.islice(found, SAMPLE))
    assert len(sample) >= 5
    reports = fusion_reports(compiler, sample)
    groups = [group["destinations"] for r in reports for group in r["fused"]]
    assert sum(groups) > LEAST_FUSED[feature] * count_destinations(sample)
    assert max(groups) > 1
    before = sum(report["launches_unfused"] for report in reports)
    after = sum(report["launches"] for report in reports)
    assert after < MOST_LAUNCHES * before


def fused_share(compiler: Compiler, chunk: Sequence[Program]) -> float:
    """How many writes share their kernel with others, of the programs that do
    not have several destinations in one write to begin with."""
    shared = total = 0
    for program, report in zip(chunk, fusion_reports(compiler, chunk), strict=True):
        if any(len(write.destinations) > 1 for write in program.writes()):
            continue
        counts = [group["destinations"] for group in report["fused"]]
        shared += sum(count for count in counts if count > 1)
        total += sum(counts)
    return shared / total


def test_writes_share_kernels(compiler):
    sample = [programs.generate(seed) for seed in range(4 * CHUNK)]
    assert fused_share(compiler, sample) > LEAST_SHARE


# -- The programs


def starts(seeds: range) -> range:
    """The first seeds of chunks."""
    return range(seeds.start, seeds.stop, CHUNK)


@pytest.mark.parametrize("seed", starts(SEEDS))
def test_programs(compiler, seed):
    check_chunk(compiler, range(seed, seed + CHUNK))


@pytest.mark.long
@pytest.mark.parametrize("seed", starts(LONG_SEEDS))
def test_more_programs(compiler, seed):
    check_chunk(compiler, range(seed, seed + CHUNK))


# -- What must be refused

#: Programs for each way to spoil one.
SPOILED = 15
#: Features that may make the compiler refuse a write.
REFUSED = {"mixed-division", "index-overflow"}
#: Of a write that is refused it is also said that its rows are written twice.
NAMED_BESIDES = {"dest-alias"}


def programs_to_spoil() -> Iterator[tuple[int, Program]]:
    """Seeds and programs in which nothing is refused as they are."""
    made = ((seed, programs.generate(seed)) for seed in itertools.count())
    fine = (pair for pair in made if not REFUSED & pair[1].features)
    return itertools.islice(fine, SPOILED)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("spoil", programs.SPOILERS, ids=lambda spoil: spoil.__name__)
def test_refused(compiler, tmp_path, spoil, fuse):
    """The compiler names the reason, and leaves no output."""
    for seed, program in programs_to_spoil():
        spoil(program, random.Random(seed))
        output = tmp_path / "out"
        result = compiler.run(
            "-", "-o", str(output), *OPTIONS, fuse, text=program.text()
        )
        reasons = set(re.findall(r"error: ([a-z-]+):", result.stderr.decode()))
        reasons -= NAMED_BESIDES
        assert result.returncode == 1, program.text()
        assert reasons == {programs.SPOILERS[spoil]}, program.text()
        assert not result.stdout and not output.exists()
