# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that engines and compilers had: layouts, strides, sizes, alignment.

A test has the number of its case, sections D, E and F. The caches are arguments of
functions that know nothing of their strides; every byte of their allocations is
compared. A reshape that copies (D9) and an expanded destination (E5) are in
test_torch_refusals.py.
"""

import itertools

import pytest
import torch

from kvfuse_testing import strided
from kvfuse_testing.strided import Write, build, check_call, module, view

E4M3FN = torch.float8_e4m3fn
#: Branches: how many bytes a thread moves at once.
WIDE, NARROW, SINGLE = "16 bytes", "4 bytes", "by element"


def rows(tokens: int, heads: int, head_dim: int, **options) -> torch.Tensor:
    """Rows [T, H, D]."""
    return view((tokens, heads, head_dim), **options)


def check_layout(compiler, writes, slots, branch=WIDE, **options) -> None:
    """The bytes are right, and `branch` is the one that ran."""
    assert strided.check(compiler, writes, slots, **options) == [branch]


# D: layouts.


@pytest.mark.parametrize(
    ("sizes", "layout"),
    [
        ((4, 4, 16, 8), "hnd"),
        ((4, 16, 4, 8), "nhd"),
        ((4, 16, 16, 8), "hnd"),
        ((4, 16, 16, 8), "nhd"),
    ],
)
def test_D1_roles_come_from_the_map(compiler, sizes, layout):
    """Neither a head count that divides by 4 nor one that is the page size says
    which dimension is which."""
    heads = sizes[1] if layout == "hnd" else sizes[2]
    check_layout(compiler, [Write(view(sizes), rows(3, heads, 8), layout)], [5, 63, 17])


def packed(layout: str) -> list[Write]:
    """K and V as the halves of rows of 16."""
    base = view((2, 2, 4, 16))
    heads = base.shape[1] if layout == "hnd" else base.shape[2]
    return [
        Write(base[..., half], rows(1, heads, 8, seed=seed), layout)
        for seed, half in enumerate((slice(0, 8), slice(8, 16)))
    ]


@pytest.mark.parametrize(("layout", "slot"), [("hnd", 5), ("nhd", 3)])
def test_D2_packed_rows(compiler, layout, slot):
    """K and V of one buffer: offsets and all strides count."""
    check_layout(compiler, packed(layout), [slot])


def test_D3_heads_apart(compiler):
    check_layout(compiler, [Write(view((2, 3, 16, 8)), rows(1, 3, 8), "hnd")], [17])


@pytest.mark.parametrize(("offset", "branch"), [(0, WIDE), (1, SINGLE)])
def test_D4_page_stride_is_no_product(compiler, offset, branch):
    """Slot 5 is element 64 + 8 of a page stride that three members share."""
    base = view((3, 2, 4, 1, 8), offset=offset)
    k = base[:, 0]
    assert k.stride() == (64, 8, 8, 1)
    writes = [Write(k, rows(1, 1, 8)), Write(base[:, 1], rows(1, 1, 8, seed=1))]
    check_layout(compiler, writes, [5], branch)
    check_layout(compiler, writes[:1], [5], branch)


def test_D6_permuted_destination(compiler):
    """The same logical cache, however it lies."""
    values = rows(2, 3, 8)
    for order in itertools.permutations(range(3)):
        sizes = [(4, 5, 3)[dim] for dim in order]
        cache = view((*sizes, 8)).permute(*(order.index(dim) for dim in range(3)), 3)
        check_layout(compiler, [Write(cache, values)], [7, 18])


def test_D7_second_to_last_dimension_of_2(compiler):
    """Two heads of one cache, or K and V of one head: the map and the views say
    which, not the shape."""
    base = view((3, 4, 2, 8))
    check_layout(compiler, [Write(base, rows(2, 2, 8))], [5, 10])
    members = [
        Write(base[:, :, place : place + 1], rows(2, 1, 8, seed=place))
        for place in range(2)
    ]
    check_layout(compiler, members, [5, 10])


def test_D8_head_stride_beyond_token_stride(compiler):
    base = view((2, 5, 4, 2, 8), (320, 64, 8, 32, 1))
    writes = [Write(base[place], rows(3, 2, 8, seed=place)) for place in range(2)]
    check_layout(compiler, writes, [0, 19, 6])


def test_D12_layers_behind_one_another(compiler):
    """A head-major page that is part of a stack of layers."""
    stack = view((5, 3, 2, 4, 8))
    check_layout(compiler, [Write(stack[:, 1], rows(2, 2, 8), "hnd")], [3, 16])


@pytest.mark.parametrize(
    ("stride", "branch"), [(16, WIDE), (40, WIDE), (42, NARROW), (41, SINGLE)]
)
def test_D13_rank_3(compiler, stride, branch):
    """A pool of slots, without pages."""
    cache = view((12, 2, 8), (stride, 8, 1))
    check_layout(compiler, [Write(cache, rows(3, 2, 8), "flat")], [11, 0, 4], branch)


@pytest.mark.parametrize("layout", ["hnd", "nhd"])
def test_D14_tokens_of_one_page(compiler, layout):
    """Every row is placed by its own head and token."""
    sizes = (2, 2, 8, 8) if layout == "hnd" else (2, 8, 2, 8)
    check_layout(compiler, [Write(view(sizes), rows(4, 2, 8), layout)], [8, 9, 10, 11])


def test_D15_padded_pages(compiler):
    """Slot 4 is element 40, not 32."""
    cache = view((3, 4, 1, 8), (40, 8, 8, 1))
    check_layout(compiler, [Write(cache, rows(2, 1, 8))], [4, 11])


D18 = [Write(view((2, 4, 8, 128), (4096, 1, 512, 4)), rows(3, 8, 128))]


def test_D18_inner_stride(compiler):
    """A head dimension of stride 4 is written element by element."""
    check_layout(compiler, D18, [1, 6, 3], SINGLE)


def test_D18_beside_unit_stride(compiler):
    plain, plain_too = (
        Write(view((2, 4, 8, 128), seed=seed), rows(3, 8, 128)) for seed in range(2)
    )
    check_layout(compiler, [*D18, plain], [1, 6, 3], SINGLE)
    # Where the user wants to see it, the two are written apart.
    taken = strided.check(compiler, [*D18, plain], [1, 6, 3], "--unit-stride-only")
    assert taken == ["apart"]
    taken = strided.check(compiler, [plain, plain_too], [1, 6, 3], "--unit-stride-only")
    assert taken == [WIDE]


def test_D19_layouts_differ(compiler):
    """K token-major and V head-major, of one shape: no offset is shared."""
    caches = view((2, 4, 4, 8)), view((2, 4, 4, 8), seed=1)
    writes = [
        Write(cache, rows(3, 4, 8, seed=seed), layout)
        for seed, (cache, layout) in enumerate(zip(caches, ("nhd", "hnd")))
    ]
    check_layout(compiler, writes, [1, 6, 3])


# E: sizes of one, stride 0.


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("strides", [(128, 8, 1, 1), (128, 8, 7, 1), (128, 8, 8, 1)])
def test_E1_stride_of_one_head(compiler, strides, dynamic):
    cache = view((4, 16, 1, 8), strides)
    check_layout(compiler, [Write(cache, rows(3, 1, 8))], [5, 63, 16], dynamic=dynamic)


@pytest.mark.parametrize("stride", [7, 128, 0])
def test_E2_dimension_of_1_at_run_time(compiler, stride):
    """No dimension whose size is not known is collapsed with another."""
    cache = view((4, 1, 16, 8), (128, stride, 8, 1))
    check_layout(
        compiler, [Write(cache, rows(3, 1, 8), "hnd")], [5, 63, 16], dynamic=True
    )
    more = view((4, 3, 16, 8), (384, 128, 8, 1))
    check_layout(
        compiler, [Write(more, rows(3, 3, 8), "hnd")], [5, 63, 16], dynamic=True
    )


def test_E3_unit_dimension_and_offset(compiler):
    """Any offset: the view is not collapsed."""
    for offset, branch in ((1, SINGLE), (2, NARROW), (8, WIDE), (96, WIDE)):
        cache = view((3, 3, 1, 96), (288, 96, 96, 1), offset)
        check_layout(compiler, [Write(cache, rows(3, 1, 96))], [0, 4, 8], branch)


def test_E5_stride_of_0_at_run_time(compiler):
    """A cache of one row, expanded by the caller: where the row of one token goes
    is certain. What is known to have such a stride is refused
    (test_refusals.py), and so are parts of one pool (test_overlap_bytes.py)."""
    cache = view((4, 2, 8), (0, 8, 1))
    check_layout(compiler, [Write(cache, rows(1, 2, 8), "flat")], [2])


def test_E5_stride_of_0_along_one_element(compiler):
    """There it says nothing."""
    cache = view((4, 1, 8), (8, 0, 1))
    check_layout(compiler, [Write(cache, rows(1, 1, 8), "flat")], [2], dynamic=True)


# F: alignment, width, head dimensions.


@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize(
    ("head_dim", "branch"),
    [(46, NARROW), (48, WIDE), (64, WIDE), (80, WIDE), (96, WIDE), (112, WIDE)],
)
def test_F1_row_that_is_no_multiple_of_16_bytes(compiler, head_dim, branch, offset):
    """Rows of 46 elements start at multiples of 4 bytes, at an odd offset of 2."""
    cache = view((2, 4, 1, head_dim), offset=offset)
    if offset == 1:
        branch = SINGLE
    check_layout(compiler, [Write(cache, rows(4, 1, head_dim))], [0, 1, 2, 7], branch)
    # The same for the rows that are read.
    values = rows(4, 1, head_dim, offset=offset)
    cache = view((2, 4, 1, head_dim))
    check_layout(compiler, [Write(cache, values)], [0, 1, 2, 7], branch)


@pytest.mark.parametrize(
    ("first", "branch"), [(0, WIDE), (512, WIDE), (514, NARROW), (515, SINGLE)]
)
def test_F3_rows_of_a_wider_row(compiler, first, branch):
    """Values are a slice of packed projections."""
    wide = view((3, 2560))
    values = wide[:, first : first + 16].unflatten(1, (2, 8))
    check_layout(compiler, [Write(view((3, 4, 2, 8)), values)], [2, 11, 5], branch)


@pytest.mark.parametrize("layout", ["hnd", "nhd"])
@pytest.mark.parametrize("head_dim", [80, 96, 112, 192])
def test_F4_head_dimension_is_no_power_of_two(compiler, head_dim, layout):
    """What follows every row stays."""
    sizes = (3, 4, 2, head_dim) if layout == "nhd" else (3, 2, 4, head_dim)
    strides = [stride // head_dim * (head_dim + 8) for stride in view(sizes).stride()]
    cache = view(sizes, (*strides[:-1], 1))
    check_layout(compiler, [Write(cache, rows(3, 2, head_dim), layout)], [2, 11, 5])


def test_F5_one_function_and_any_offset(compiler):
    """Alignment is that of the call, not that of an earlier one."""
    slots = torch.tensor([2, 11, 5])
    offsets = {0: WIDE, 1: SINGLE, 2: NARROW, 4: NARROW, 8: WIDE}
    order = [WIDE, NARROW, SINGLE]
    text = module([Write(view((3, 4, 2, 64)), rows(3, 2, 64))], slots)
    fused, unfused = (build(compiler, text, f"--fuse={fuse}") for fuse in ("on", "off"))
    for ours, theirs in itertools.product(offsets, repeat=2):
        cache = view((3, 4, 2, 64), offset=ours)
        writes = [Write(cache, rows(3, 2, 64, offset=theirs))]
        branch = max(offsets[ours], offsets[theirs], key=order.index)
        assert check_call(fused, writes, slots) == [branch]
        check_call(unfused, writes, slots)


@pytest.mark.parametrize(
    ("head_dim", "dtype", "branch"),
    [
        (100, torch.bfloat16, "8 bytes"),
        (100, E4M3FN, NARROW),
        (99, torch.bfloat16, SINGLE),
        (99, E4M3FN, SINGLE),
    ],
)
def test_F8_narrow_rows_of_bytes(compiler, head_dim, dtype, branch):
    """As many bytes as 100 is a multiple of, in rows of either type."""
    cache = view((3, 4, 1, head_dim), dtype=E4M3FN)
    values = rows(3, 1, head_dim, dtype=dtype)
    check_layout(compiler, [Write(cache, values)], [2, 11, 5], branch)


@pytest.mark.parametrize(("offset", "branch"), [(0, WIDE), (1, SINGLE)])
@pytest.mark.parametrize("dtype", [torch.bfloat16, E4M3FN])
@pytest.mark.parametrize("row", [128, 160])
def test_F9_index_cache(compiler, row, dtype, offset, branch):
    """Contiguous and strided, bf16 and fp8, aligned and not: all fuse, and only
    where it starts says how wide."""
    cache = view((3, 4, 1, 128), (4 * row, row, row, 1), offset, dtype)
    check_layout(compiler, [Write(cache, rows(3, 1, 128))], [2, 11, 5], branch)
