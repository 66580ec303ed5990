#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a bundle of make_bundle.py on this machine's GPU.

    run_bundle.py BUNDLE [--filter TEXT] [--sanitizer TOOL]

Every case makes its buffers from seeds, launches its kernels, and compares the
SHA-256 of each whole buffer with the one that torch eager left on the machine
that made the bundle. A trap case has to end in CUDA_ERROR_ASSERT and runs in a
process of its own, because that ends the context.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

import launcher

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

from kvfuse_testing import cases, cells

#: Tool of compute-sanitizer -> it runs one case in so many, for its slowness.
SANITIZERS = {"memcheck": 1, "racecheck": 8, "initcheck": 8}


def read_case(entry: dict) -> cases.Case:
    """The buffers and views of a manifest entry."""
    buffers = [
        cases.Buffer(**buffer | {"numbers": tuple(buffer["numbers"])})
        for buffer in entry["buffers"]
    ]
    views = [cases.View(**view) for view in entry["views"]]
    return cases.Case(tuple(buffers), tuple(views))


def digests(case: cases.Case, arrays: list[np.ndarray]) -> list[str]:
    """SHA-256 of each whole buffer, the NaNs of casts made equal."""
    return [
        hashlib.sha256(buffer.comparable(array).tobytes()).hexdigest()
        for buffer, array in zip(case.buffers, arrays, strict=True)
    ]


class Runner:
    """Runs cases of the bundle in folder `bundle`."""

    def __init__(self, bundle: pathlib.Path) -> None:
        self.bundle = bundle
        self.device = launcher.Device()
        self.modules: dict[str, object] = {}

    def module(self, image: str):
        """An image of the bundle, loaded once."""
        if image not in self.modules:
            self.modules[image] = self.device.load((self.bundle / image).read_bytes())
        return self.modules[image]

    def launch(self, entry: dict, case: cases.Case, pointers: list[int]) -> None:
        """Runs all kernels of a case and waits for them."""
        for launch in entry["launches"]:
            parameters = []
            for number in launch["arguments"]:
                view = case.views[number]
                width = cells.WIDTHS[case.buffers[view.buffer].dtype]
                parameters += launcher.memref_parameters(
                    pointers[view.buffer] + width * view.offset,
                    view.sizes,
                    view.strides,
                )
            kernel = self.device.kernel(self.module(entry["image"]), launch["kernel"])
            self.device.launch(
                kernel,
                tuple(launch["grid"]),
                launch["block"],
                parameters,
                dependent=launch.get("dependent", False),
            )
        self.device.synchronize()

    def wrong_buffers(self, entry: dict) -> list[int]:
        """Runs a case; the numbers of the buffers whose bytes are wrong."""
        case = read_case(entry)
        arrays = case.make()
        with self.device.copies(arrays) as pointers:
            self.launch(entry, case, pointers)
            for pointer, array in zip(pointers, arrays, strict=True):
                self.device.read(pointer, array)
        pairs = zip(digests(case, arrays), entry["digests"], strict=True)
        return [number for number, (got, want) in enumerate(pairs) if got != want]

    def traps(self, entry: dict) -> bool:
        """Does the case end in a failed assertion? The context is lost then."""
        case = read_case(entry)
        with self.device.copies(case.make()) as pointers:
            try:
                self.launch(entry, case, pointers)
            except launcher.CudaError as error:
                return error.name == "CUDA_ERROR_ASSERT"
        return False


def trap_message(bundle: pathlib.Path, name: str) -> str:
    """What is wrong with a trap case, run in a process of its own."""
    command = [sys.executable, __file__, str(bundle), "--trap", name]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return ""
    return f"did not end in CUDA_ERROR_ASSERT\n{result.stdout}{result.stderr}"


def case_message(runner: Runner, entry: dict) -> str:
    """What is wrong with a case that has to run, empty if nothing is."""
    try:
        wrong = runner.wrong_buffers(entry)
    except RuntimeError as error:
        return str(error)
    return f"wrong bytes in buffers {wrong}" if wrong else ""


def run_all(bundle: pathlib.Path, entries: list[dict]) -> int:
    """Runs the entries and prints a summary; returns the exit code."""
    start, failed = time.monotonic(), 0
    runner = Runner(bundle)
    print(f"{len(entries)} cases on {runner.device.name}")
    for entry in entries:
        if entry["trap"]:
            message = trap_message(bundle, entry["name"])
        else:
            message = case_message(runner, entry)
        if message:
            failed += 1
            print(f"FAILED {entry['name']}: {message}")
    seconds = time.monotonic() - start
    passed = len(entries) - failed
    print(f"{passed} passed, {failed} failed in {seconds:.1f} s")
    return 1 if failed or not entries else 0


def under_sanitizer(options: argparse.Namespace) -> int:
    """Runs this script under a tool of compute-sanitizer."""
    command = ["compute-sanitizer", f"--tool={options.sanitizer}"]
    command += ["--error-exitcode=9", sys.executable, __file__, str(options.bundle)]
    every = options.every or SANITIZERS[options.sanitizer]
    command += ["--no-traps", f"--filter={options.filter}", f"--every={every}"]
    return subprocess.run(command, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", type=pathlib.Path)
    parser.add_argument("--filter", default="", help="only cases with TEXT in the name")
    parser.add_argument("--every", type=int, metavar="N", help="one case in N")
    parser.add_argument(
        "--sanitizer", choices=SANITIZERS, help="under a tool of compute-sanitizer"
    )
    parser.add_argument("--no-traps", action="store_true", help="leave out trap cases")
    parser.add_argument("--trap", metavar="NAME", help="run one trap case here")
    options = parser.parse_args()
    if options.sanitizer:
        return under_sanitizer(options)

    manifest = json.loads((options.bundle / "manifest.json").read_text())
    if options.trap:
        (entry,) = [e for e in manifest["cases"] if e["name"] == options.trap]
        return 0 if Runner(options.bundle).traps(entry) else 1
    entries = [
        entry
        for entry in manifest["cases"]
        if options.filter in entry["name"] and not (options.no_traps and entry["trap"])
    ]
    return run_all(options.bundle, entries[:: options.every or 1])


if __name__ == "__main__":
    sys.exit(main())
