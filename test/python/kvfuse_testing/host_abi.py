# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function to call through the host ABI, and programs in C++ that call it."""

import dataclasses
import pathlib
import subprocess

import torch
import tvm_ffi.libinfo

from . import abi
from .compile import ROOT, Compiler, report_path

HEADS, DIM = 2, 16
SHAPE = f"?x{HEADS}x{DIM}"

_CACHE = f"tensor<{SHAPE}xbf16>"
_VALUES = f"tensor<{SHAPE}xf32>"
_WRITE = "kv.write at(%s : tensor<?xi64>) negative(wrap) out_of_bounds(trap)"
_MAP = "map(affine_map<(t, s, h, d) -> (s, h, d)>)"

#: Writes k * scale and v * scale, as bf16, into rows `slots` of two caches.
MODULE = f"""
func.func @main(
    %kc: {_CACHE} {{kv.name = "k_cache", bufferization.writable = true}},
    %vc: {_CACHE} {{kv.name = "v_cache", bufferization.writable = true}},
    %k: {_VALUES} {{kv.name = "k"}}, %v: {_VALUES} {{kv.name = "v"}},
    %s: tensor<?xi64> {{kv.name = "slots"}}, %scale: f32 {{kv.name = "scale"}})
    -> ({_CACHE}, {_CACHE}) {{
  %c0 = arith.constant 0 : index
  %kn = tensor.dim %k, %c0 : {_VALUES}
  %vn = tensor.dim %v, %c0 : {_VALUES}
  %ks = tensor.splat %scale[%kn] : {_VALUES}
  %vs = tensor.splat %scale[%vn] : {_VALUES}
  %kx = arith.mulf %k, %ks : {_VALUES}
  %vx = arith.mulf %v, %vs : {_VALUES}
  %kb = arith.truncf %kx : {_VALUES} to {_CACHE}
  %vb = arith.truncf %vx : {_VALUES} to {_CACHE}
  %0 = {_WRITE} put %kb : {_CACHE} into %kc : {_CACHE} {_MAP}
  %1 = {_WRITE} put %vb : {_CACHE} into %vc : {_CACHE} {_MAP}
  return %0, %1 : {_CACHE}, {_CACHE}
}}
"""


@dataclasses.dataclass
class Call:
    """Arguments of `main`: caches [rows, HEADS, DIM] bf16, values f32, slots i64."""

    k_cache: torch.Tensor
    v_cache: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    slots: torch.Tensor
    scale: float | int | str = 2.0

    @staticmethod
    def make(rows: int = 6, tokens: int = 3) -> "Call":
        """A call whose slots are the first `tokens` odd rows, from the last on."""
        generator = torch.Generator().manual_seed(0)
        caches = torch.zeros(2, rows, HEADS, DIM, dtype=torch.bfloat16)
        values = torch.randn(2, tokens, HEADS, DIM, generator=generator)
        slots = (2 * torch.arange(tokens) + 1).flip(0)
        return Call(*caches.unbind(), *values.unbind(), slots)

    def arguments(self) -> list:
        """The arguments in order."""
        return [getattr(self, field.name) for field in dataclasses.fields(self)]

    def expected(self) -> list[torch.Tensor]:
        """The caches as torch leaves them."""
        caches = [self.k_cache.clone(), self.v_cache.clone()]
        for cache, values in zip(caches, (self.k, self.v)):
            cache[self.slots] = (values * self.scale).to(cache.dtype)
        return caches


def compile_program(
    folder: pathlib.Path,
    compiler: Compiler,
    source: pathlib.Path,
    *options: str,
    runtime: bool = True,
) -> pathlib.Path:
    """Compiles MODULE to an object with its header write.h, and links `source`.

    `source` is C++. The program finds kvfuse's runtime and TVM-FFI by rpath, or,
    without `runtime`, has functions of its own in their place. The report is
    beside the program.
    """
    program, module = folder / "program", folder / "module.mlir"
    object_file = folder / "module.o"
    module.write_text(MODULE)
    result = compiler.run(
        *(str(module), "-o", str(object_file), "--emit=obj", *options),
        *(f"--header={folder / 'write.h'}", f"--report={report_path(program)}"),
    )
    assert result.returncode == 0, result.stderr.decode()
    includes = [
        *tvm_ffi.libinfo.include_paths(),
        *(folder, ROOT / "include", ROOT / "test/Runtime/Inputs"),
    ]
    link = []
    if runtime:
        for library in (abi.load_runtime()._name, tvm_ffi.libinfo.find_libtvm_ffi()):
            link += [library, f"-Wl,-rpath,{pathlib.Path(library).parent}"]
    subprocess.run(
        ["clang++-22", "-std=c++17", "-Wall", "-Wextra", "-Werror", str(source)]
        + [f"-I{include}" for include in includes]
        + [str(object_file), *link, "-o", str(program)],
        check=True,
    )
    return program


def run_program(program: pathlib.Path, *arguments: str) -> list[str]:
    """The lines that a program prints."""
    return subprocess.run(
        [str(program), *arguments], check=True, capture_output=True, text=True
    ).stdout.splitlines()
