#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU time of one Python call that writes a layer's K, V and index-K.

    benchmarks/call_overhead.py [--device cpu|cuda] [--calls 50] [--rounds 201]
                                [--json FILE]

Seven tensors: fp8 caches of K and V as views of one pool, a bf16 cache of index-K,
rows as slices of one packed projection, slots. On CUDA calls are timed without
waiting for the device, which is idle before each round and takes all calls of a
round into its queue: kvfuse's compiled write, as an object and as the bare TVM-FFI
function, the launch of a plain Triton kernel and torch's chain; and, as the driver's
part of it all, launches of an empty kernel from a loop in C. On the CPU the calls have
no tokens, so that nothing is written and a call is its overhead. Ways take turns; the
figure is the median of their rounds. Each is called in inference mode, as engines
do, and where autograd records: kvfuse's object then asks each tensor for requires_grad.
"""

import argparse
import pathlib
import statistics
import sys
import time
from collections.abc import Callable

import torch

import cuda_library
import record

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "examples" / "minimax_m3_step"))

from writes import compile_writes, write_sparse

PAGES, PAGE_SIZE, HEADS, HEAD_DIM = 64, 32, 4, 128
#: What a call may cost, in microseconds, and as a part of Triton's launch.
BAR_US, BAR_OF_TRITON = 5.0, 0.5

Arguments = tuple[torch.Tensor, ...]
Write = Callable[..., None]
#: Makes a number of calls with the same arguments.
Repeat = Callable[[Arguments, int], None]
#: Mode -> does autograd record?
MODES = {"inference": False, "autograd": True}
#: Microseconds a call by the way of writing and the mode.
Times = dict[tuple[str, str], float]


def make_arguments(tokens: int, device: torch.device) -> Arguments:
    """The arguments of a write, the same in every run."""
    generator = torch.Generator().manual_seed(0)
    kv_pool = torch.zeros(PAGES, 2, HEADS, PAGE_SIZE, HEAD_DIM, device=device)
    kv_pool = kv_pool.to(torch.float8_e4m3fn)
    shape = (PAGES, 1, PAGE_SIZE, HEAD_DIM)
    index_pool = torch.zeros(shape, dtype=torch.bfloat16, device=device)
    widths = [HEADS * HEAD_DIM, HEADS * HEAD_DIM, HEAD_DIM]
    packed = torch.randn(tokens, sum(widths), generator=generator)
    parts = packed.to(torch.bfloat16).to(device).split(widths, 1)
    rows = [part.unflatten(1, (-1, HEAD_DIM)) for part in parts]
    order = torch.randperm(PAGES * PAGE_SIZE, generator=generator)
    slots = order[:tokens].to(torch.int32).to(device)
    return (kv_pool[:, 0], kv_pool[:, 1], index_pool, *rows, slots)


def writes_on(device: torch.device) -> dict[str, Write]:
    """Name -> what is called."""
    example = make_arguments(8, device)
    dense = (*example[:2], *example[3:5], example[6])
    compiled = compile_writes(dense, example).sparse
    writes = {
        "kvfuse": compiled,
        "kvfuse, bare": compiled.function,
        "torch chain": write_sparse,
    }
    if device.type == "cuda":
        import triton_write

        writes["plain Triton"] = triton_write.write
    return writes


def repeat(write: Write) -> Repeat:
    """Calls of `write` from Python."""

    def run(arguments: Arguments, calls: int) -> None:
        for _ in range(calls):
            write(*arguments)

    return run


def launch_empty(arguments: Arguments, calls: int) -> None:
    """Dependent launches (late) of an empty kernel, with a block for each token."""
    cuda_library.empty_kernel()(len(arguments[-1]), 1, 160, 1, calls)


def check(writes: dict[str, Write], device: torch.device) -> None:
    """Raises if a way of writing leaves other bytes than torch's chain."""
    expected = make_arguments(64, device)
    write_sparse(*expected)
    for name, write in writes.items():
        arguments = make_arguments(64, device)
        write(*arguments)
        for got, want in zip(arguments[:3], expected[:3], strict=True):
            if not torch.equal(got.view(torch.uint8), want.view(torch.uint8)):
                raise RuntimeError(f"{name} writes other bytes than torch's chain")


def time_calls(run: Repeat, arguments: Arguments, calls: int) -> float:
    """Microseconds of CPU a call, without waiting for the device.

    A few calls come first, so that no way pays for the CPU's caches after another.
    """
    run(arguments, 5)
    if arguments[0].is_cuda:
        torch.cuda.synchronize()
    start = time.perf_counter()
    run(arguments, calls)
    return 1e6 * (time.perf_counter() - start) / calls


def medians(
    ways: dict[str, Repeat], device: torch.device, calls: int, rounds: int
) -> Times:
    """Microseconds a call."""
    arguments = make_arguments(64 if device.type == "cuda" else 0, device)
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds + 1):
        for name, run in ways.items():
            for mode, records in MODES.items():
                with torch.inference_mode(not records):
                    taken = time_calls(run, arguments, calls)
                times.setdefault((name, mode), []).append(taken)
    return {way: statistics.median(taken[1:]) for way, taken in times.items()}


def print_verdict(times: Times) -> None:
    """The times, and whether they keep within the bar."""
    for (name, mode), taken in times.items():
        print(f"{name:14}{mode:10}{taken:8.2f} us a call")
    for mode in MODES:
        taken = times["kvfuse", mode]
        kept = "yes" if taken <= BAR_US else "NO"
        print(f"{mode}: at most {BAR_US:g} us: {taken:.2f}, {kept}")
        if ("plain Triton", mode) in times:
            ratio = taken / times["plain Triton", mode]
            kept = "yes" if ratio <= BAR_OF_TRITON else "NO"
            print(
                f"{mode}: at most {BAR_OF_TRITON:g} of plain Triton: {ratio:.2f}, {kept}"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    has_cuda = torch.cuda.is_available()
    parser.add_argument("--device", default="cuda" if has_cuda else "cpu")
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=201)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(1)
    device = torch.device(options.device)
    writes = writes_on(device)
    check(writes, device)
    ways = {name: repeat(write) for name, write in writes.items()}
    if device.type == "cuda":
        ways["launch from C"] = launch_empty
    times = medians(ways, device, options.calls, options.rounds)
    print_verdict(times)
    if options.json:
        figures = [
            {"way": name, "mode": mode, "us": taken}
            for (name, mode), taken in times.items()
        ]
        record.write(options.json, figures, options.device)
    return 0


if __name__ == "__main__":
    sys.exit(main())
