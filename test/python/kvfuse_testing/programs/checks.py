# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what compiled programs do with the oracle."""

import ctypes
import math
import multiprocessing
import pathlib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..abi import load_runtime
from .calls import call
from .inputs import Input, make_input
from .model import Type
from .text import Program

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


def inputs(program: Program) -> Iterator[tuple[str, str, Input]]:
    """(description, kind, input) for each call of the program."""
    for count, kind in CALLS:
        if kind == "duplicate" and program.reads_caches:
            continue
        label = f"{program.name}/{count}/{kind}"
        given = make_input(program, label, count, kind)
        if given is not None:
            yield label, kind, given


def run_calls(
    paths: Mapping[str, pathlib.Path], chunk: Sequence[Program]
) -> list[str]:
    """Calls the programs of a module compiled in several ways, which have names;
    says what is wrong."""
    load_runtime()
    libraries = {way: ctypes.CDLL(str(path)) for way, path in paths.items()}
    return [
        f"{label}, {way}: {wrong}"
        for program in chunk
        for label, kind, given in inputs(program)
        for way, library in libraries.items()
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
