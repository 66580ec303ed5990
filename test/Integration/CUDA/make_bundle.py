#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs kernels and expected bytes for run_bundle.py on a machine with a GPU.

    make_bundle.py --out DIR

DIR gets the images, as PTX and some as cubins too, and manifest.json: for each
case its buffers as seeds, the views of them that are the function's arguments,
the launches, and the SHA-256 of each whole buffer afterwards, computed here by
torch eager or a row by row oracle. Slots in these cases are distinct.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import shutil
import sys
import tempfile

import launcher
from run_bundle import HERE, digests

TESTS = HERE.parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("python", "Exports", "Field")]

import models
import torch
from bundle_layouts import add_layouts, sample
from kvfuse_testing import cases, casts, field_kv, layers, matrix, oracle
from kvfuse_testing.compile import Compiler
from kvfuse_testing.layouts.model import all_cells
from versions import alternatives, pick

TARGET = "sm_90"
#: Every so many signatures are packed as a cubin too.
CUBIN_EVERY = 6
#: Rows of 256 elements in cast cases: all 16-bit cells, all boundaries of f32.
CAST_ROWS = {"bf16": 256, "f16": 256, "f32": cases.F32_BOUNDARIES // casts.ROW}
#: A long prefill, where there is no kernel for many tokens.
MANY_TOKENS = 4096
#: Name -> options that change the kernel but not the bytes.
VARIANTS = {
    "pdl-late": ("--pdl=late",),
    "pdl-early": ("--pdl=early",),
    "two-tokens": ("--tokens-per-thread=2",),
    "four-tokens": ("--tokens-per-thread=4", "--pdl=off"),
    "small-blocks": ("--block-size=32",),
}


class Bundle:
    """A bundle being made in `folder`."""

    def __init__(self, folder: pathlib.Path, compiler: Compiler) -> None:
        self.folder = folder
        self.compiler = compiler
        self.cases: list[dict] = []

    def image(self, name: str, text: str, emit: str, *options: str) -> list[dict]:
        """Compiles `text` into the image `name`; returns the kernels in it."""
        output = self.compiler.compile(
            text, f"--target={TARGET}", f"--emit={emit}", *options
        )
        shutil.copyfile(output, self.folder / name)
        return self.compiler.kernels(output)

    def add(
        self,
        name: str,
        image: str,
        case: cases.Case,
        launches: list[dict],
        expected: list | None,
    ) -> None:
        """Adds a case; `expected` is its buffers afterwards, None if it traps."""
        entry = dataclasses.asdict(case) | {
            "name": name,
            "image": image,
            "launches": launches,
            "trap": expected is None,
            "digests": [] if expected is None else digests(case, expected),
        }
        self.cases.append(entry)

    def write(self) -> None:
        """Writes the manifest."""
        text = json.dumps({"target": TARGET, "cases": self.cases})
        (self.folder / "manifest.json").write_text(text)


def write_launch(
    kernel: dict, spec: models.LayerSpec, tokens: int, dependent: bool = False
) -> dict:
    """The launch of a layer's write kernel."""
    elements = spec.head_dim * sum(spec.write_heads(w) for w in spec.writes)
    return {
        "kernel": kernel["name"],
        **launcher.launch_shape(kernel, tokens, elements),
        "arguments": kernel["arguments"],
        "dependent": dependent,
    }


def mutates(spec: models.LayerSpec) -> str:
    """The option that declares every cache of the layer mutated."""
    return "--mutates=" + ",".join(str(n) for n in range(len(spec.order)))


def add_layer(bundle: Bundle, spec: models.LayerSpec, emit: str) -> None:
    """The usual cases of one layer, torch eager being right.

    The kernel for many tokens takes few as well, and runs the same cases.
    """
    image = f"{matrix.spec_name(spec)}.{emit}"
    text = matrix.exported(spec)
    kernels = bundle.image(image, text, emit, mutates(spec))
    for number, (name, case) in enumerate(matrix.usual_cases(spec)):
        tokens = case.views[-1].sizes[0]
        storage = name.split()[0]
        expected = layers.run_eager(spec, case)
        chosen = pick(kernels, case, tokens)
        for kernel in alternatives(kernels, chosen):
            variant = "" if kernel is chosen else f"-{kernel['name']}"
            launch = write_launch(kernel, spec, tokens)
            bundle.add(
                f"{image}-{number}-{storage}{variant}", image, case, [launch], expected
            )


def add_many_tokens(bundle: Bundle, spec: models.LayerSpec) -> None:
    """As many tokens as a long prefill has, and one, in a pool that they fill."""
    image = f"many-tokens-{matrix.spec_name(spec)}.ptx"
    kernels = bundle.image(image, matrix.exported(spec), "ptx", mutates(spec))
    tokens = 1 + max(kernel.get("min_tokens", MANY_TOKENS) for kernel in kernels)
    tokens += 1 - tokens % 2
    pages = -(-tokens // spec.page)
    slots = cases.distinct_slots(1, tokens, pages * spec.page)
    case = layers.layer_case(spec, "interleaved", pages, slots, seed=1)
    launch = write_launch(pick(kernels, case, tokens), spec, tokens)
    bundle.add(image, image, case, [launch], layers.run_eager(spec, case))


def add_variants(bundle: Bundle, spec: models.LayerSpec) -> None:
    """Other tokens of a thread and threads of a block, and dependent launch, whose
    kernels are launched with and without its attribute."""
    for name, options in VARIANTS.items():
        image = f"{name}-{matrix.spec_name(spec)}.ptx"
        kernels = bundle.image(
            image, matrix.exported(spec), "ptx", mutates(spec), *options
        )
        for dependent in (False, True) if name.startswith("pdl") else (False,):
            for number, (_, case) in enumerate(matrix.usual_cases(spec)):
                tokens = case.views[-1].sizes[0]
                kernel = pick(kernels, case, tokens)
                launch = write_launch(kernel, spec, tokens, dependent)
                title = f"{image}-{number}{'-dependent' if dependent else ''}"
                expected = layers.run_eager(spec, case)
                bundle.add(title, image, case, [launch], expected)


def add_policies(bundle: Bundle, spec: models.LayerSpec) -> None:
    """Slots outside the caches under every policy that leaves rows out."""
    for policy, (options, meaning) in matrix.POLICIES.items():
        image = f"{policy}-{matrix.spec_name(spec)}.ptx"
        text = matrix.exported(spec)
        kernels = bundle.image(image, text, "ptx", mutates(spec), *options)
        slots = matrix.policy_slots(spec)
        for storage in ("interleaved", "padded"):
            case = layers.layer_case(spec, storage, matrix.PAGES, slots, seed=6)
            expected = oracle.write_layer(spec, case, meaning)
            for kernel in alternatives(kernels, pick(kernels, case, len(slots))):
                launch = write_launch(kernel, spec, len(slots))
                name = f"{image}-{storage}-{kernel['name']}"
                bundle.add(name, image, case, [launch], expected)


def add_traps(bundle: Bundle, spec: models.LayerSpec) -> None:
    """A slot before and a slot behind the caches, each of which has to trap."""
    image = f"trap-{matrix.spec_name(spec)}.ptx"
    kernels = bundle.image(image, matrix.exported(spec), "ptx", mutates(spec))
    total = matrix.total_slots(spec)
    for slot, storage in ((total, "padded"), (-total - 1, "interleaved")):
        case = layers.layer_case(spec, storage, matrix.PAGES, [1, slot, 5], seed=3)
        for kernel in alternatives(kernels, pick(kernels, case, tokens=3)):
            launch = write_launch(kernel, spec, tokens=3)
            name = f"{image}-slot{slot}-{kernel['name']}"
            bundle.add(name, image, case, [launch], None)


def cast_launch(kernel: dict, case: cases.Case) -> dict:
    """The launch of a kernel of a cast module; its temporary is the last view."""
    temporary = len(case.views) - 1
    return {
        "kernel": kernel["name"],
        **launcher.launch_shape(kernel, *case.views[0].sizes),
        "arguments": [temporary if a == "temp" else a for a in kernel["arguments"]],
    }


def with_temporary(case: cases.Case) -> cases.Case:
    """The case with one more buffer and view, shaped like those of the result."""
    seed = case.buffers[0].seed + 10
    buffer = dataclasses.replace(case.buffers[0], seed=seed)
    view = dataclasses.replace(case.views[0], buffer=len(case.buffers))
    return cases.Case((*case.buffers, buffer), (*case.views, view))


def add_cast(bundle: Bundle, cast: casts.Cast, fuse: str) -> None:
    """One cast, inside the write or as a kernel of its own."""
    image = f"cast-{cast}-fuse-{fuse}.ptx"
    text = casts.module_text(cast)
    kernels = bundle.image(image, text, "ptx", f"--fuse={fuse}")
    case = casts.cast_case(cast, CAST_ROWS[cast.source])
    if fuse == "off":
        case = with_temporary(case)
    expected = case.make()
    right = casts.by_torch if casts.torch_has(cast) else casts.by_ml_dtypes
    expected[0] = right(cast, expected[1])
    if fuse == "off":
        expected[-1] = expected[0]
    else:
        kernels = [pick(kernels, case, case.views[0].sizes[0])]
    launches = [cast_launch(kernel, case) for kernel in kernels]
    bundle.add(image, image, case, launches, expected)


#: Spellings of the field whose kernels differ from a layer's (byte addresses, pairs
#: of rank 2, masks, row numbers, scales of every type, casts) and take the
#: function's arguments as they are.
FIELD = ("ET3", "G1", "G5", "KT3", "NV1", "NV3", "ON1", "T8")
#: An element type for each width, where only bytes count.
RAW = {1: "e4m3fn", 2: "bf16", 4: "i32", 8: "i64"}


def raw_buffer(tensor: torch.Tensor) -> cases.Buffer:
    """A buffer with the bytes of `tensor`."""
    flat = tensor.contiguous().view(-1)
    integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    numbers = tuple(flat.view(integers[tensor.itemsize]).tolist())
    return cases.Buffer(RAW[tensor.itemsize], flat.numel(), "numbers", numbers=numbers)


def raw_view(number: int, tensor: torch.Tensor) -> cases.View:
    """All of buffer `number`, in the shape of `tensor`."""
    sizes = tuple(tensor.shape)
    return cases.View(number, 0, sizes, cases.dense_strides(sizes, range(len(sizes))))


def add_field(bundle: Bundle, name: str) -> None:
    """A spelling of the field as kv IR, torch eager being right."""
    image = f"field-{name}.ptx"
    kernels = bundle.image(image, field_kv.text(name), "ptx")
    for seed in range(2):
        given, left = field_kv.call_arguments(name, seed)
        case = cases.Case(
            tuple(map(raw_buffer, given)),
            tuple(raw_view(number, tensor) for number, tensor in enumerate(given)),
        )
        slots = kernels[0]["arguments"][0]
        tokens = given[slots].numel()
        kernel = pick(kernels, case, tokens)
        launch = {
            "kernel": kernel["name"],
            **launcher.launch_shape(kernel, tokens, 1),
            "arguments": kernel["arguments"],
        }
        expected = [raw_buffer(tensor).make() for tensor in left]
        bundle.add(f"{image}-{seed}", image, case, [launch], expected)


def variant_specs() -> list[models.LayerSpec]:
    """Layers of 1, 4 and 8 heads, of two other layouts, and of rows that no vector
    fits."""
    by_heads = {spec.heads: spec for spec in matrix.MATRIX if spec.cache == "e4m3fn"}
    (odd,) = [spec for spec in matrix.OTHERS if spec.head_dim == 7]
    return [*by_heads.values(), matrix.NHD, matrix.FLAT, odd]


def fill(bundle: Bundle, whole_matrix: bool) -> None:
    """Adds every case."""
    for number, spec in enumerate([*matrix.MATRIX, *matrix.OTHERS]):
        add_layer(bundle, spec, "ptx")
        if number % CUBIN_EVERY == 0:
            add_layer(bundle, spec, "cubin")
    for spec in (matrix.LAYER, matrix.FLAT, matrix.NHD):
        add_policies(bundle, spec)
        add_traps(bundle, spec)
    for spec in matrix.MATRIX[:: len(matrix.MATRIX) // 5]:
        add_many_tokens(bundle, spec)
    for spec in variant_specs():
        add_variants(bundle, spec)
    for name in FIELD:
        add_field(bundle, name)
    for cast in casts.FP8_CASTS + casts.WIDE_CASTS:
        for fuse in ("on", "off"):
            add_cast(bundle, cast, fuse)
    add_layouts(bundle, all_cells() if whole_matrix else sample())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument(
        "--whole-matrix", action="store_true", help="all cells of the layout matrix"
    )
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        bundle = Bundle(options.out, Compiler(pathlib.Path(folder)))
        fill(bundle, options.whole_matrix)
    bundle.write()
    size = sum(path.stat().st_size for path in options.out.iterdir())
    megabytes = math.ceil(size / 1e6)
    print(f"{len(bundle.cases)} cases, {megabytes} MB in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
