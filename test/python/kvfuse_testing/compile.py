# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kvfuse-compile, once for each input and set of options."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]


class CompileError(RuntimeError):
    """What kvfuse-compile wrote to standard error."""


def find_compiler() -> pathlib.Path:
    """kvfuse-compile from the folder KVFUSE_BIN_DIR, or from build/bin."""
    folder = pathlib.Path(os.environ.get("KVFUSE_BIN_DIR", ROOT / "build" / "bin"))
    compiler = folder / "kvfuse-compile"
    if not compiler.is_file():
        raise FileNotFoundError(f"{compiler} is not there: run make build")
    return compiler


def find_ptxas() -> str:
    """ptxas from KVFUSE_PTXAS or from the PATH."""
    ptxas = os.environ.get("KVFUSE_PTXAS") or shutil.which("ptxas")
    if ptxas is None:
        raise FileNotFoundError("no ptxas: set KVFUSE_PTXAS or run make build")
    return ptxas


def report_path(output: pathlib.Path) -> pathlib.Path:
    """Where `Compiler.compile` leaves the report beside its output."""
    return output.with_suffix(".json")


class Compiler:
    """kvfuse-compile with a folder that keeps its outputs by content."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.path = find_compiler()
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, *arguments: str, text: str = "") -> subprocess.CompletedProcess:
        """Runs the tool with `text` as standard input, whatever it returns."""
        return subprocess.run(
            [str(self.path), *arguments],
            input=text.encode(),
            capture_output=True,
            check=False,
        )

    def compile(self, text: str, *options: str) -> pathlib.Path:
        """Compiles MLIR `text`; raises CompileError if the tool refuses."""
        key = hashlib.sha256("\0".join([text, *options]).encode()).hexdigest()
        output = self.folder / key[:32]
        if not output.exists():
            report = f"--report={report_path(output)}"
            result = self.run("-", "-o", str(output), report, *options, text=text)
            if result.returncode:
                raise CompileError(result.stderr.decode())
        return output

    def kernels(self, output: pathlib.Path) -> list[dict]:
        """The kernels of an output of `compile`, as the report lists them."""
        return json.loads(report_path(output).read_text())["kernels"]

    def launches(self, output: pathlib.Path) -> list[dict]:
        """The same without those that are launched instead where tokens are many."""
        return [k for k in self.kernels(output) if "min_tokens" not in k]
