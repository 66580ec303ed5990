# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libkvfuse.so as a TVM-FFI module, and programs to compile with it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[3]
TEST_FOLDERS = (ROOT / "test" / "python", ROOT / "test" / "Exports")


def library_folder() -> pathlib.Path:
    """The folder of the libraries: KVFUSE_LIB_DIR, or build/lib."""
    return pathlib.Path(os.environ.get("KVFUSE_LIB_DIR", ROOT / "build" / "lib"))


def load_library() -> Any:
    """The functions of libkvfuse.so."""
    import tvm_ffi

    return tvm_ffi.load_module(str(library_folder() / "libkvfuse.so"))


#: TVM-FFI imports torch if it is there, which takes longer than most tests.
WITHOUT_TORCH = "import sys; sys.modules['torch'] = None\n"


def python(
    code: str, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.Popen:
    """A process of its own that runs `code` with the tests' modules on its path, and
    without torch."""
    path = os.pathsep.join(map(str, TEST_FOLDERS))
    return subprocess.Popen(
        [sys.executable, "-c", WITHOUT_TORCH + code, *arguments],
        env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_python(
    code: str, *arguments: str, environment: dict[str, str] | None = None
) -> str:
    """Standard output of `python(...)`, which has to succeed."""
    process = python(code, *arguments, environment=environment)
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    return output


def write_program(head_dim: int = 64, name: str = "write") -> str:
    """kv IR of one function: bf16 rows [tokens, 4, head_dim], cast to float8_e4m3fn,
    into a cache [pages, 4, 32, head_dim] by int64 slots [tokens]."""
    cache = f"tensor<?x4x32x{head_dim}xf8E4M3FN>"
    rows = f"tensor<?x4x{head_dim}xbf16>"
    cast = rows.replace("bf16", "f8E4M3FN")
    return f"""
func.func @{name}(%slots: tensor<?xi64>, %rows: {rows},
                  %cache: {cache} {{bufferization.writable = true}}) -> {cache} {{
  %page = kv.apply affine_map<(s) -> (s floordiv 32)>(%slots) : tensor<?xi64>
  %offset = kv.apply affine_map<(s) -> (s mod 32)>(%slots) : tensor<?xi64>
  %cast = kv.cast %rows saturating : {rows} to {cast}
  %new = kv.write at(%page, %offset : tensor<?xi64>, tensor<?xi64>)
    negative(wrap) out_of_bounds(trap)
    put %cast : {cast} into %cache : {cache}
        map(affine_map<(t, p, o, h, d) -> (p, h, o, d)>)
  return %new : {cache}
}}
"""


def large_program(functions: int) -> str:
    """Many functions of `write_program`, no two of the same sizes: a second of work
    for every ten of them."""
    return "".join(write_program(32 + i, f"write{i}") for i in range(functions))
