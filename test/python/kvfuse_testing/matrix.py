# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers and slots that the byte tests run, on the CPU and on a GPU."""

import functools
import itertools

import export
import models

from . import cases, layers, oracle

#: KV heads -> (page size, head dimension).
SIZES = {1: (16, 128), 4: (32, 128), 8: (64, 64)}
PAGES = 3
TOKENS = 37

MATRIX = [
    models.LayerSpec(
        layout=layout,
        cache=cache,
        slots=slots,
        heads=heads,
        page=SIZES[heads][0],
        head_dim=SIZES[heads][1],
        order="kvi" if index_k else "kv",
    )
    for cache, heads, index_k, layout, slots in itertools.product(
        ("bf16", "e4m3fn", "e5m2"),
        (1, 4, 8),
        (True, False),
        ("hnd", "nhd"),
        ("i32", "i64"),
    )
]

#: What the matrix leaves out: other value types, flat caches, odd sizes,
#: page arithmetic shared by the writes, other orders of the writes.
OTHERS = [
    models.LayerSpec(cache="bf16", values="f32", slots="i32"),
    models.LayerSpec(cache="f16", values="f16", layout="nhd"),
    models.LayerSpec(cache="f16", values="f32", order="kv"),
    models.LayerSpec(cache="f16", values="bf16", order="kv", slots="i32"),
    models.LayerSpec(cache="f32", values="bf16", order="kv", layout="nhd"),
    models.LayerSpec(cache="e4m3fn", values="f32", layout="nhd"),
    models.LayerSpec(cache="e4m3fn", values="f16", order="v"),
    models.LayerSpec(cache="e5m2", values="f32", order="kv"),
    models.LayerSpec(cache="e5m2", values="f16", layout="nhd", slots="i32"),
    models.LayerSpec(layout="flat", cache="bf16", order="kv", slots="i32"),
    models.LayerSpec(layout="flat", cache="e4m3fn", order="kvi"),
    models.LayerSpec(layout="flat", cache="e5m2", values="f32", order="k"),
    models.LayerSpec(cache="e4m3fn", page=5, heads=3, head_dim=7),
    models.LayerSpec(cache="bf16", page=1, heads=2, head_dim=24, layout="nhd"),
    models.LayerSpec(cache="e4m3fn", page=528, heads=1, head_dim=9, order="kv"),
    models.LayerSpec(cache="e4m3fn", shared_arithmetic=True, slots="i32"),
    models.LayerSpec(cache="e5m2", shared_arithmetic=True, layout="nhd"),
    models.LayerSpec(cache="bf16", order="ikv"),
    models.LayerSpec(cache="e4m3fn", order="vik", shared_arithmetic=True),
    models.LayerSpec(cache="e4m3fn", order="ivk", layout="nhd"),
    models.LayerSpec(cache="e4m3fn", order="kiv", slots="i32"),
    models.LayerSpec(cache="e5m2", order="vki"),
]


def spec_name(spec: models.LayerSpec) -> str:
    """A test id that names every field that differs between specs."""
    sizes = f"{spec.heads}x{spec.head_dim}-page{spec.page}"
    shared = "-shared" if spec.shared_arithmetic else ""
    return (
        f"{spec.layout}-{spec.cache}-from-{spec.values}-{sizes}-"
        f"{spec.slots}-{spec.order}{shared}"
    )


@functools.cache
def exported(spec: models.LayerSpec) -> str:
    """The layer as torch-mlir writes it: raw for i32 slots, torch for i64."""
    return export.layer_text(spec, "raw" if spec.slots == "i32" else "torch")


def total_slots(spec: models.LayerSpec) -> int:
    """How many slots the caches of all cases have."""
    return PAGES * spec.page


def usual_cases(spec: models.LayerSpec) -> list[tuple[str, cases.Case]]:
    """Random, edge and negative slots, over all ways that caches lie in memory."""
    total = total_slots(spec)
    count = min(TOKENS, total)
    random = [cases.distinct_slots(seed, count, total) for seed in range(3)]
    # With a page of one slot the edge slots 0, P-1 and P are not all different.
    edge = sorted(set(cases.edge_slots(spec.page, total)))
    wrapped = sorted(set(cases.wrapped_slots(spec.page)))
    wanted = [
        ("interleaved", random[0]),
        ("padded", random[1]),
        ("permuted", random[2]),
        ("interleaved", edge),
        ("padded", edge),
        ("interleaved", wrapped),
        ("permuted", wrapped),
    ]
    return [
        (f"{storage} {slots}", layers.layer_case(spec, storage, PAGES, slots, seed))
        for seed, (storage, slots) in enumerate(wanted)
    ]


#: The layers that tests of single rules use.
LAYER = models.LayerSpec(slots="i32")
FLAT = models.LayerSpec(layout="flat", cache="bf16", order="kv")
NHD = models.LayerSpec(layout="nhd", cache="e5m2", page=8, head_dim=16)


#: Name -> (options of kvfuse-compile, what they mean).
POLICIES = {
    "skip-outside": (("--out-of-bounds=skip",), oracle.Policy()),
    "skip-negative": (
        ("--negative=skip", "--out-of-bounds=skip"),
        oracle.Policy(negative="skip"),
    ),
    "negative-is-outside": (
        ("--negative=error", "--out-of-bounds=skip"),
        oracle.Policy(negative="error"),
    ),
    "reserved-7": (
        ("--reserved-slot=7", "--out-of-bounds=skip"),
        oracle.Policy(reserved=7),
    ),
    "reserved-minus-1": (
        ("--reserved-slot=-1", "--out-of-bounds=skip"),
        oracle.Policy(reserved=-1),
    ),
}


def policy_slots(spec: models.LayerSpec) -> list[int]:
    """Slots inside and outside the caches, negative ones, and a reserved one; those
    inside are all different."""
    total = total_slots(spec)
    return [7, -1, 1, total, -2, total - 3, 2**31 - 1, -total, -total - 1, 11]
