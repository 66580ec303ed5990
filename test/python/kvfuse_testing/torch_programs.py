# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions on torch tensors through the Torch door, and what torch makes of them.

A function goes through torch.export, torch-mlir and kvfuse-compile. What kvfuse
leaves of the module is run by torch, the writes by the compiled functions, and
all bytes are compared with the function itself in torch eager.
"""

import concurrent.futures
import dataclasses
import hashlib
import json
import re
import subprocess
import warnings
from collections.abc import Callable, Collection, Sequence

import torch
from torch_mlir import fx

from . import abi
from .compile import CompileError, Compiler
from .torch_interpreter import Interpreter

#: Bytes before and after each tensor in its allocation.
GUARD = 128
REMARK = re.compile(r"remark: \[\w+\] ([\w-]+) \|")
#: Index arithmetic, which fusing takes into the write.
ARITHMETIC = re.compile(
    r"torch\.aten\.(floor_divide|div|remainder|add|sub|mul|arange|repeat|expand|"
    r"unsqueeze|where)\b|linalg\.broadcast|arith\.|kv\.apply"
)


def guarded(data: torch.Tensor) -> torch.Tensor:
    """A dense copy of `data` between GUARD bytes on either side."""
    count = data.numel() * data.itemsize
    store = torch.full((count + 2 * GUARD,), 0xA5, dtype=torch.uint8)
    view = store[GUARD : GUARD + count].view(data.dtype).view(data.shape)
    view.copy_(data)
    return view


def storage(tensor: torch.Tensor) -> torch.Tensor:
    """All bytes of the allocation that `tensor` lies in."""
    return torch.tensor([], dtype=torch.uint8).set_(tensor.untyped_storage())


def surroundings(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes before and after a tensor that `guarded` made."""
    store = storage(tensor)
    return torch.cat([store[:GUARD], store[-GUARD:]])


def same_bytes(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Equal element types, shapes and bytes?"""
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    left, right = left.contiguous().view(-1), right.contiguous().view(-1)
    return torch.equal(left.view(torch.uint8), right.view(torch.uint8))


@dataclasses.dataclass(frozen=True)
class Exported:
    """A function as torch-mlir writes it.

    `updates` has, for each result of the function, the number of the argument
    whose new contents it is, or None.
    """

    text: str
    updates: tuple[int | None, ...]

    @property
    def mutated(self) -> tuple[int, ...]:
        """Arguments that may be written: the mutated ones, or the first one of a
        function that returns a new cache."""
        numbers = {number for number in self.updates if number is not None}
        return tuple(sorted(numbers)) or (0,)


class Model(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors):
        return self.function(*tensors)


def result_updates(program: torch.export.ExportedProgram) -> tuple[int | None, ...]:
    """Which result is the new content of which argument."""
    kinds = torch.export.graph_signature.OutputKind
    order = list(program.graph_signature.user_inputs)
    return tuple(
        order.index(spec.target) if spec.kind == kinds.USER_INPUT_MUTATION else None
        for spec in program.graph_signature.output_specs
    )


def export_program(
    function: Callable, tensors: Sequence[torch.Tensor], dynamic: tuple | None = None
) -> torch.export.ExportedProgram:
    """torch.export of a function; `dynamic` has a dict of Dims for each tensor."""
    shapes = None if dynamic is None else (dynamic,)
    return torch.export.export(Model(function), tuple(tensors), dynamic_shapes=shapes)


def import_program(
    program: torch.export.ExportedProgram,
    output_type: str = "raw",
    decompose: bool = True,
) -> Exported:
    """A program through torch-mlir, with its default decompositions or none."""
    updates: list[tuple] = []
    options = {} if decompose else {"decomposition_table": {}}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
        module = fx.export_and_import(
            program,
            output_type=output_type,
            annotate=lambda program: updates.append(result_updates(program)),
            **options,
        )
    text = module.operation.get_asm(print_generic_op_form=True)
    return Exported(text, updates[0])


@dataclasses.dataclass(frozen=True)
class Compiled:
    """What kvfuse-compile made of a module.

    `launches` has the number of caches of each fused kernel, `reasons` the names
    of the refusals with repetitions, `error` the message if it stopped. `kernels`
    counts all kernels, those in front of a write too. `caller` runs the rest of the
    module, and is None if all of it is in the library.
    """

    launches: tuple[int, ...]
    reasons: tuple[str, ...]
    kernels: int = 0
    error: str = ""
    caller: Interpreter | None = None
    library: abi.Library | None = None


def compile_text(compiler: Compiler, text: str, *options: str) -> Compiled:
    """Compiles a module for the CPU."""
    key = hashlib.sha256("\0".join([text, *options]).encode()).hexdigest()[:32]
    report, caller = (compiler.folder / f"{key}.{kind}" for kind in ("report", "kv"))
    output = ["-", "--emit=kv", "-o", str(caller), f"--report={report}", "--remarks"]
    options = ("--target=cpu", *options)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        built = pool.submit(compile_library, compiler, text, options)
        shown = compiler.run(*output, *options, text=text)
    messages = shown.stderr.decode()
    names = REMARK.findall(messages)
    reasons = tuple(sorted(name for name in names if name not in ("fused", "guarded")))
    if shown.returncode:
        return Compiled((), reasons, error=messages)
    functions = json.loads(report.read_text())["functions"]
    sites = [site for function in functions for site in function["fused"]]
    left = caller.read_text()
    library = built.result() if "module @kvfuse" in left else None
    # A module of known operations alone is compiled whole.
    whole = "!torch" not in left
    return Compiled(
        tuple(sorted(site["destinations"] for site in sites)),
        reasons,
        kernels=sum(function["launches"] for function in functions),
        caller=None if whole else Interpreter(generic(compiler, left), library),
        library=library,
    )


def compile_library(
    compiler: Compiler, text: str, options: Sequence[str]
) -> abi.Library | None:
    """The compiled functions, None if there are none."""
    try:
        path = compiler.compile(text, "--emit=shared", "-O0", *options)
    except CompileError:
        return None
    return abi.Library(path)


def generic(compiler: Compiler, text: str) -> str:
    """The module in generic form."""
    tool = compiler.path.with_name("kvfuse-opt")
    command = [str(tool), "--mlir-print-op-generic", "--allow-unregistered-dialect"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode()


def compile_exported(
    compiler: Compiler, exported: Exported, fuse: str = "on", options: Sequence = ()
) -> Compiled:
    """Compiles an exported function, its mutated arguments declared."""
    mutates = ",".join(map(str, exported.mutated))
    return compile_text(
        compiler, exported.text, f"--fuse={fuse}", f"--mutates={mutates}", *options
    )


def arithmetic_left(compiled: Compiled) -> list[str]:
    """Index arithmetic that stands in front of a call of a fused write."""
    if compiled.caller is None:
        return []
    return [
        source
        for source, kind in compiled.caller.sources("main")
        if ARITHMETIC.match(source) and re.search(r"i(32|64)>$", kind)
    ]


def run(compiled: Compiled, exported: Exported, tensors: list) -> list:
    """The function's results; caches that were written in place are results too."""
    if compiled.caller is not None:
        return compiled.caller.run("main", tensors)
    compiled.library.call("main", *tensors)
    # Results that are mutated arguments are not returned, and there are no others:
    # what a function returns without a declared mutation is its first cache.
    functional = all(number is None for number in exported.updates)
    return [
        tensors[0] if functional else None if number is None else tensors[number]
        for number in exported.updates
    ]


def differences(
    compiled: Compiled,
    exported: Exported,
    function: Callable,
    tensors: Sequence[torch.Tensor],
    caches: Collection[int],
) -> list[str]:
    """Compares a call with `function` in torch eager, one line per difference.

    `caches` are the arguments that a fused program writes in place.
    """
    got = [guarded(tensor) for tensor in tensors]
    results = run(compiled, exported, got)
    want = [guarded(tensor) for tensor in tensors]
    returned = function(*want)
    if isinstance(returned, torch.Tensor):
        returned = [returned]
    returned = iter(returned or ())

    lines, places = [], {}
    for place, (number, result) in enumerate(
        zip(exported.updates, results, strict=True)
    ):
        if not isinstance(result, torch.Tensor):
            continue
        expected = next(returned) if number is None else want[number]
        if not same_bytes(result, expected):
            lines.append(f"result {place} differs")
        places.setdefault(0 if number is None else number, result)
    for number, (tensor, expected) in enumerate(zip(got, want, strict=True)):
        written = number in exported.updates or (
            compiled.library is not None and number in exported.mutated
        )
        bytes_of = surroundings if written else storage
        if not torch.equal(bytes_of(tensor), bytes_of(expected)):
            lines.append(f"bytes of argument {number} differ")
        fused = compiled.launches and number in caches and number in places
        if fused and places[number].data_ptr() != tensor.data_ptr():
            lines.append(f"argument {number} was not written in place")
    return lines
