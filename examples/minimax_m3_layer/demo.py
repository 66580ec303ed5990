# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a layer's torch code to one kernel that leaves the same bytes.

Exports model.py with torch-mlir, compiles it with kvfuse-compile, shows both
ends, runs the chain and the fused kernel on the CPU, and on a GPU if there is
one. Exit code 1 if any byte differs from torch eager's.
"""

import dataclasses
import inspect
import json
import os
import pathlib
import re
import sys
import tempfile
import warnings

import torch
from torch_mlir import fx

import model

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(ROOT / "test" / "python"),
    str(ROOT / "test" / "Integration" / "CUDA"),
]

import launcher
from kvfuse_testing.abi import Library
from kvfuse_testing.compile import Compiler

TOKENS, PAGES, PAGE_SIZE, HEADS, HEAD_DIM = 64, 16, 32, 4, 128
OUTPUT = ROOT / "build" / "demo"
MUTATES = "--mutates=0,1,2"

#: What the exporter writes around the operations of the chain.
SCAFFOLDING = ("constant.", "prim.ListConstruct", "aten._assert_tensor_metadata")


@dataclasses.dataclass
class Arguments:
    """The pools that own the bytes, and the views that the layer is called with.

    K and V are halves of one fp8 pool [B, 2, H, P, D]; index-K has a bf16 pool of
    its own [B, 1, P, D]; the rows are slices of one packed projection.
    """

    pools: list[torch.Tensor]
    views: list[torch.Tensor]


def make_arguments() -> Arguments:
    """Random pools, rows and distinct slots, the same in every run."""
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    kv_pool = random(PAGES, 2, HEADS, PAGE_SIZE, HEAD_DIM).to(torch.float8_e4m3fn)
    index_pool = random(PAGES, 1, PAGE_SIZE, HEAD_DIM).to(torch.bfloat16)
    packed = (100 * random(TOKENS, (2 * HEADS + 1) * HEAD_DIM)).to(torch.bfloat16)
    k, v, index_k = packed.split([HEADS * HEAD_DIM, HEADS * HEAD_DIM, HEAD_DIM], 1)
    rows = [x.unflatten(1, (-1, HEAD_DIM)) for x in (k, v, index_k)]
    order = torch.randperm(PAGES * PAGE_SIZE, generator=generator)
    slots = order[:TOKENS].to(torch.int32)
    views = [kv_pool[:, 0], kv_pool[:, 1], index_pool, *rows, slots]
    return Arguments([kv_pool, index_pool], views)


def export_layer(views: list[torch.Tensor]) -> str:
    """The layer as torch-mlir writes it; T and the number of pages are dynamic.

    torch.export wants no two arguments in one storage, so it gets copies.
    """
    pages, tokens = torch.export.Dim("pages"), torch.export.Dim("tokens")
    shapes = ({0: pages},) * 3 + ({0: tokens},) * 4
    copies = tuple(view.clone() for view in views)
    program = torch.export.export(
        model.SparseLayerWrites(), copies, dynamic_shapes=shapes
    )
    module = fx.export_and_import(program, output_type="raw")
    return module.operation.get_asm(print_generic_op_form=True)


def chain_lines(text: str) -> list[str]:
    """The operations of the chain, a line for each write."""
    lines, names = [], []
    for name in re.findall(r'"torch\.([\w.]+)"\(', text):
        if name.startswith(SCAFFOLDING):
            continue
        names.append(name.split(".")[1])
        if names[-1] == "index_put":
            lines.append(" -> ".join(names))
            names = []
    return lines


def fused_lines(text: str) -> list[str]:
    """The kv.write of the fused module and its map, without what is around."""
    lines = text.splitlines()
    maps = [line for line in lines if line.startswith("#map")]
    (start,) = [i for i, line in enumerate(lines) if "kv.write" in line]
    end = next(i for i in range(start, len(lines)) if "return" in lines[i])
    indent = len(lines[start]) - len(lines[start].lstrip())
    return maps + [line[indent:] for line in lines[start:end]]


def check(name: str, arguments: Arguments, expected: Arguments) -> bool:
    """Compares all bytes of the pools and prints the verdict."""
    pairs = zip(arguments.pools, expected.pools, strict=True)
    same = all(torch.equal(a.view(torch.uint8), b.view(torch.uint8)) for a, b in pairs)
    size = sum(pool.nbytes for pool in expected.pools)
    print(f"{'PASS' if same else 'FAIL'}: {name}: {size} bytes as torch eager's")
    return same


def run_on_cpu(library: pathlib.Path) -> Arguments:
    """What a compiled layer leaves on the CPU."""
    arguments = make_arguments()
    Library(library).call("main", *arguments.views)
    return arguments


def run_on_gpu(device: launcher.Device, ptx: bytes, kernel: dict) -> Arguments:
    """What the kernel leaves on the GPU."""
    arguments = make_arguments()
    used = [arguments.views[number] for number in kernel["arguments"]]
    storages = {v.untyped_storage().data_ptr(): v.untyped_storage() for v in used}
    arrays = [
        torch.tensor([], dtype=torch.uint8).set_(s).numpy() for s in storages.values()
    ]
    function = device.kernel(device.load(ptx), kernel["name"])
    with device.copies(arrays) as pointers:
        places = dict(zip(storages, pointers, strict=True))
        parameters = []
        for view in used:
            pointer = places[view.untyped_storage().data_ptr()]
            parameters += launcher.memref_parameters(
                pointer, view.storage_offset(), view.shape, view.stride()
            )
        grid = launcher.token_grid(TOKENS, (2 * HEADS + 1) * HEAD_DIM)
        device.launch(function, grid, parameters)
        device.synchronize()
        for pointer, array in zip(pointers, arrays, strict=True):
            device.read(pointer, array)
    return arguments


def show(title: str, lines: list[str]) -> None:
    """Prints a titled, indented block."""
    print(f"\n{title}")
    for line in lines:
        print(f"  {line}")


def main() -> int:
    warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    eager = make_arguments()
    model.SparseLayerWrites()(*eager.views)
    source = export_layer(make_arguments().views)
    (OUTPUT / "layer.raw.mlir").write_text(source)

    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(pathlib.Path(folder))
        fused = compiler.compile(source, MUTATES, "--emit=kv", "--target=sm_90")
        output = compiler.compile(source, MUTATES, "--emit=ptx", "--target=sm_90")
        report = json.loads(output.with_suffix(".json").read_text())
        ptx = output.read_bytes()
        fused_text = fused.read_text()
        libraries = {
            fuse: compiler.compile(
                source, MUTATES, "--emit=shared", "--target=cpu", f"--fuse={fuse}"
            )
            for fuse in ("off", "on")
        }
        ran = {fuse: run_on_cpu(library) for fuse, library in libraries.items()}

    (OUTPUT / "layer.kv.mlir").write_text(fused_text)
    (OUTPUT / "layer.ptx").write_bytes(ptx)
    (function,), kernels = report["functions"], report["kernels"]

    show("The torch code, called for K, V and index-K:", source_lines())
    show("The chain, as torch-mlir exports it:", chain_lines(source))
    show("The fused operation:", fused_lines(fused_text))
    show("The report:", json.dumps(function, indent=2).splitlines())
    before, after = function["launches_unfused"], function["launches"]
    print(f"\nKernel launches: {before} before, {after} after")
    print(f"PTX: {os.path.relpath(OUTPUT / 'layer.ptx')}, one kernel in versions:")
    for kernel in kernels:
        many = kernel.get("min_tokens")
        print(f"  {kernel['name']}: {kernel['branch']}", end="")
        print(f", from {many} tokens on" if many else "")
    print()

    results = [
        check(f"chain on the CPU, {before} kernels", ran["off"], eager),
        check(f"fused on the CPU, {after} kernel", ran["on"], eager),
    ]
    try:
        device = launcher.Device()
    except (OSError, launcher.CudaError):
        print("No CUDA device here: the kernel was not run on a GPU")
    else:
        # The widest version: all rows here start at multiples of 16 bytes.
        on_gpu = run_on_gpu(device, ptx, kernels[0])
        results.append(check(f"fused on {device.name}", on_gpu, eager))
    return 0 if all(results) else 1


def source_lines() -> list[str]:
    """The code of one write, without its documentation."""
    lines = inspect.getsource(model.write_rows).splitlines()
    return [line for line in lines if '"""' not in line]


if __name__ == "__main__":
    sys.exit(main())
