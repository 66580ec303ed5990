# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generated programs, fused and unfused, against a NumPy interpreter of them.

Programs have consecutive seeds, so that a failure can be repeated alone; its
message has the seed and the text. Many programs make one module, since most of
the time goes into compiling.
"""

import concurrent.futures
import ctypes
import functools
import itertools
import json
import math
import multiprocessing
import pathlib
import random
import re
import traceback
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from kvfuse_testing import programs
from kvfuse_testing.abi import descriptor_type
from kvfuse_testing.cases import View
from kvfuse_testing.compile import CompileError, Compiler, report_path
from kvfuse_testing.programs import Input, Program, Type

FUSE = ("on", "off")
OPTIONS = ("--target=cpu", "--emit=shared", "-O0")
#: Programs in one module.
CHUNK = 25
#: Seeds that `make check` runs, and those that `make check-long` adds.
SEEDS = range(500)
LONG_SEEDS = range(500, 10_000)
#: At least this share of the writes must share a kernel.
LEAST_SHARE = 0.4
#: (tokens, kind of input) of the calls of each program.
CALLS = [
    (17, "distinct"),
    (5, "distinct"),
    (3, "distinct"),
    (1, "distinct"),
    (0, "distinct"),
    (5, "trap"),
    (6, "duplicate"),
]


# -- Calling

MESSAGE = ("message", ctypes.c_char_p)
LIBC = ctypes.CDLL(None)
LIBC.free.argtypes = [ctypes.c_void_p]


@functools.cache
def results_type(ranks: tuple[int, ...]) -> type[ctypes.Structure]:
    """What a function returns: a descriptor of each rank, and a message."""
    fields = [(f"r{i}", descriptor_type(rank)) for i, rank in enumerate(ranks)]
    return type("Results", (ctypes.Structure,), {"_fields_": [*fields, MESSAGE]})


def describe(view: View, buffer: np.ndarray) -> ctypes.Structure:
    """The descriptor of a view of `buffer`."""
    base = buffer.ctypes.data
    made = descriptor_type(len(view.sizes))(base, base, view.offset)
    if view.sizes:
        made.sizes[:] = view.sizes
        made.strides[:] = view.strides
    return made


def take(descriptor: ctypes.Structure, dtype: str) -> np.ndarray:
    """A copy of the array that a function returned."""
    array = np.dtype(programs.ARRAYS[dtype])
    sizes = list(getattr(descriptor, "sizes", []))
    strides = [s * array.itemsize for s in getattr(descriptor, "strides", [])]
    if 0 in sizes:
        return np.zeros(sizes, array)
    start = descriptor.aligned + descriptor.offset * array.itemsize
    last = (np.array(sizes, int) - 1) @ np.array(strides, int)
    span = array.itemsize + int(last)
    memory = np.frombuffer((ctypes.c_char * span).from_address(start), array, 1)
    return np.lib.stride_tricks.as_strided(memory, sizes, strides).copy()


def call(
    library: ctypes.CDLL, given: Input, buffers: Sequence[np.ndarray]
) -> tuple[str | None, list[np.ndarray]]:
    """Runs the compiled program on `buffers`: its message, and its results."""
    program = given.program
    outputs = [program.types[name] for name in program.outputs()]
    views = [given.views[name] for name in program.arguments]
    arguments = [
        *(ctypes.byref(describe(view, buffers[view.buffer])) for view in views),
        *(ctypes.c_bool(given.flags[flag]) for flag in program.flags),
    ]
    function = getattr(library, f"_mlir_ciface_{program.name}")
    if not outputs:
        function.restype = ctypes.c_char_p
        message = function(*arguments)
        return message and message.decode(), []
    results = results_type(tuple(len(made.dims) for made in outputs))()
    function.restype = None
    function(ctypes.byref(results), *arguments)
    if results.message is not None:
        return results.message.decode(), []
    descriptors = [getattr(results, f"r{i}") for i in range(len(outputs))]
    arrays = [take(d, made.dtype) for d, made in zip(descriptors, outputs, strict=True)]
    for allocated in {descriptor.allocated for descriptor in descriptors}:
        LIBC.free(allocated)
    return None, arrays


# -- Comparing


def differ(array: np.ndarray, expected: np.ndarray) -> str | None:
    """Where two arrays differ first, if they do."""
    if array.shape != expected.shape:
        return f"shape {array.shape} instead of {expected.shape}"
    if array.tobytes() == expected.tobytes():
        return None
    places = np.argwhere(array != expected)
    first = tuple(int(i) for i in places[0])
    return (
        f"{len(places)} elements, first {first}: "
        f"{array[first]:#x} instead of {expected[first]:#x}"
    )


def buffer_names(given: Input, number: int) -> str:
    """The arguments in buffer `number`."""
    return "+".join(n for n, view in given.views.items() if view.buffer == number)


def check_distinct(given: Input, library: ctypes.CDLL) -> Iterator[str]:
    """All bytes of all buffers, and all results."""
    state = given.run()
    buffers = [buffer.copy() for buffer in given.buffers]
    message, results = call(library, given, buffers)
    if message is not None:
        yield f"failed: {message}"
        return
    program = given.program
    made = given.comparable(buffers)
    wanted = given.comparable(given.after(state, set()))
    without = given.comparable(given.after(state, program.unused))
    for number, arrays in enumerate(zip(made, wanted, without, strict=True)):
        found = differ(arrays[0], arrays[1])
        if found and differ(arrays[0], arrays[2]):
            yield f"{buffer_names(given, number)}: {found}"
    for name, array in zip(program.outputs(), results, strict=True):
        expected = program.comparable(name, state.values[name])
        if found := differ(program.comparable(name, array), expected):
            yield f"result %{name}: {found}"


def check_duplicate(given: Input, library: ctypes.CDLL) -> Iterator[str]:
    """Each element comes from one of the tokens that name it (SX7)."""
    buffers = [buffer.copy() for buffer in given.buffers]
    message, _ = call(library, given, buffers)
    if message is not None:
        yield f"failed: {message}"
        return
    grids = given.program.token_arguments()
    most = max(math.prod(Type.plain("i1", d).sizes(given.symbols)) for d in grids)
    possible = [given.after(given.run(first), set()) for first in range(max(most, 1))]
    possible.append(given.after(given.run(), given.program.unused))
    made = given.comparable(buffers)
    options = [given.comparable(arrays) for arrays in possible]
    for number, array in enumerate(made):
        same = np.any([array == option[number] for option in options], axis=0)
        if not same.all():
            yield f"{buffer_names(given, number)}: {np.argwhere(~same)[:, 0].tolist()}"


def check_trap(given: Input, library: ctypes.CDLL) -> Iterator[str]:
    """The call fails, and only elements that valid tokens name change (SX5)."""
    state = given.run()
    buffers = [buffer.copy() for buffer in given.buffers]
    message, _ = call(library, given, buffers)
    if not state.trapped or not (message or "").startswith("SX5"):
        yield f"expected SX5, but got {message}"
    for number, (array, named) in enumerate(
        zip(buffers, given.named(state), strict=True)
    ):
        if found := differ(array[~named], given.buffers[number][~named]):
            yield f"{buffer_names(given, number)}, outside of rows: {found}"


CHECKS: dict[str, Callable[[Input, ctypes.CDLL], Iterator[str]]] = {
    "distinct": check_distinct,
    "duplicate": check_duplicate,
    "trap": check_trap,
}


# -- Running


def inputs(program: Program) -> Iterator[tuple[str, str, Input]]:
    """(description, kind, input) for each call of the program."""
    for count, kind in CALLS:
        if kind == "duplicate" and program.reads_caches:
            continue
        label = f"{program.name}/{count}/{kind}"
        given = programs.make_input(program, label, count, kind)
        if given is not None:
            yield label, kind, given


def compile_both(compiler: Compiler, text: str) -> list[pathlib.Path]:
    """Compiles `text` in both ways, side by side."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(
            pool.map(
                lambda fuse: compiler.compile(text, *OPTIONS, f"--fuse={fuse}"), FUSE
            )
        )


def run_calls(paths: Sequence[pathlib.Path], chunk: Sequence[Program]) -> list[str]:
    """Calls the programs of a module compiled in both ways; says what is wrong."""
    libraries = [ctypes.CDLL(str(path)) for path in paths]
    return [
        f"{label} --fuse={fuse}: {wrong}"
        for program in chunk
        for label, kind, given in inputs(program)
        for fuse, library in zip(FUSE, libraries, strict=True)
        for wrong in CHECKS[kind](given, library)
    ]


def in_child(work: Callable[[], list[str]]) -> list[str]:
    """What `work` returns, in a process of its own, which it may crash."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)

    def send() -> None:
        try:
            sender.send(work())
        except Exception:
            sender.send([traceback.format_exc()])

    process = fork.Process(target=send)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        return [f"the process ended with {process.exitcode}"]
    finally:
        process.join()


def run_programs(compiler: Compiler, chunk: Sequence[Program]) -> list[str]:
    """Compiles the programs as one module, calls them, and says what is wrong."""
    try:
        text = "\n".join(program.text() for program in chunk)
        paths = compile_both(compiler, text)
    except CompileError as error:
        return [str(error)]
    return in_child(lambda: run_calls(paths, chunk))


def explain(compiler: Compiler, program: Program) -> str:
    """What is wrong with one program, and its text; empty if nothing is."""
    wrong = run_programs(compiler, [program])
    return "\n".join([*wrong, program.text()]) if wrong else ""


def check_chunk(compiler: Compiler, seeds: range) -> None:
    """Runs the programs together, and each one alone if anything is wrong."""
    chunk = [programs.generate(seed) for seed in seeds]
    wrong = run_programs(compiler, chunk)
    if wrong:
        alone = [explain(compiler, program) for program in chunk]
        pytest.fail("\n".join(filter(None, alone)) or "\n".join(wrong))


# -- What is fused

#: Programs that are looked at for each feature.
SAMPLE = 12
#: Feature -> the least share of writes that are fused where it is in use. Some
#: writes are folded, and some are refused for other reasons.
LEAST_FUSED = {feature: 0.8 for feature in programs.FEATURES} | {
    # Writes of these are refused.
    "mixed-division": 0.5,
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
    assert len(sample) == SAMPLE
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


def programs_to_spoil() -> Iterator[tuple[int, Program]]:
    """Seeds and programs in which nothing is refused as they are."""
    made = ((seed, programs.generate(seed)) for seed in itertools.count())
    fine = (pair for pair in made if "mixed-division" not in pair[1].features)
    return itertools.islice(fine, SPOILED)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("spoil", programs.SPOILERS, ids=lambda spoil: spoil.__name__)
def test_refused(compiler, tmp_path, spoil, fuse):
    """The compiler names the reason, and leaves no output."""
    for seed, program in programs_to_spoil():
        spoil(program, random.Random(seed))
        output = tmp_path / "out"
        result = compiler.run(
            "-", "-o", str(output), *OPTIONS, f"--fuse={fuse}", text=program.text()
        )
        reasons = set(re.findall(r"error: ([a-z-]+):", result.stderr.decode()))
        assert result.returncode == 1, program.text()
        assert reasons == {programs.SPOILERS[spoil]}, program.text()
        assert not result.stdout and not output.exists()
