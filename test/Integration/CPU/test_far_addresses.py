# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caches of many gigabytes, of which only the pages that are written exist.

A cache is a file without contents in memory; behind a call the file has contents
where rows were written, and nowhere else. Offsets lie past 2^31 elements and 2^32
bytes (cases G1, G2, G4, G6). test/Tools/far-addresses.mlir and
test/Pipelines/far-addresses.mlir show the same in the IR.
"""

import mmap
import os
from collections.abc import Iterator, Sequence

import pytest
import torch

from kvfuse_testing import abi, strided
from kvfuse_testing.strided import Write

BF16, F32 = torch.bfloat16, torch.float32
FUSE = ("on", "off")


class Sparse:
    """A file of `size` bytes that has none of them yet, mapped to memory."""

    def __init__(self, size: int) -> None:
        self.file = os.memfd_create("cache")
        os.ftruncate(self.file, size)
        self.bytes = torch.frombuffer(mmap.mmap(self.file, size), dtype=torch.uint8)

    def __del__(self) -> None:
        os.close(self.file)

    def view(
        self, dtype: torch.dtype, sizes: Sequence[int], strides: Sequence[int], offset=0
    ) -> torch.Tensor:
        """A view, in elements of `dtype`."""
        return self.bytes.view(dtype).as_strided(sizes, strides, offset)

    def contents(self) -> Iterator[tuple[int, bytes]]:
        """Where there are contents, and which."""
        end = 0
        while True:
            try:
                start = os.lseek(self.file, end, os.SEEK_DATA)
            except OSError:  # no more of them
                return
            end = os.lseek(self.file, start, os.SEEK_HOLE)
            yield start, os.pread(self.file, end - start, start)

    def pages(self) -> dict[int, bytes]:
        """The pages that exist, by their address."""
        return {
            start + at: data[at : at + mmap.PAGESIZE]
            for start, data in self.contents()
            for at in range(0, len(data), mmap.PAGESIZE)
        }


def build(compiler, writes: Sequence[Write], slots: torch.Tensor, fuse: str):
    """The compiled writes."""
    text = strided.module(writes, slots)
    return strided.build(compiler, text, f"--fuse={fuse}").library


def call(library: abi.Library, writes: Sequence[Write], slots: torch.Tensor) -> None:
    library.call("main", *strided.tensors_of(writes, slots))


def rows(tokens: int, heads: int, head_dim: int, dtype=BF16, seed=0) -> torch.Tensor:
    """Rows of numbers from 1 to 2."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand((tokens, heads, head_dim), generator=generator).add(1).to(dtype)


#: Case -> (layout, element type, sizes and strides of the cache, slots). G1 has
#: pages of 65,536 elements, of which page 32,768 begins at element 2^31.
CASES = {
    "G1-nhd": (
        "nhd", BF16, (70_000, 16, 32, 128), (65_536, 4096, 128, 1),
        [0, 32_768 * 16 - 1, 32_768 * 16, 65_536 * 16 + 5, -1],
    ),
    "G1-hnd": (
        "hnd", BF16, (70_000, 32, 16, 128), (65_536, 2048, 128, 1),
        [0, 32_768 * 16 - 1, 32_768 * 16, 65_536 * 16 + 5, -1],
    ),
    "G1-odd-strides": (
        "hnd", BF16, (40_000, 8, 16, 8), (65_537, 8192, 512, 3),
        [32_767 * 16, 39_000 * 16 + 7, -2],
    ),
    "G2": ("nhd", BF16, (2067, 16, 8, 128), (1_039_680, 1024, 128, 1), [2066 * 16, 17]),
    "G4": ("flat", BF16, (4_000_001, 1, 576), (576, 576, 1), [4_000_000, 3_728_271, -9]),
    "G6": ("flat", F32, (64, 1, 8), (67_108_864, 8, 1), [63, 32, 31, 1]),
}  # fmt: skip


def sparse_for(sizes: Sequence[int], strides: Sequence[int], width: int) -> Sparse:
    """Room for a view."""
    last = sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    return Sparse(width * (last + 1) + mmap.PAGESIZE)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("slots_type", [torch.int32, torch.int64])
@pytest.mark.parametrize("name", CASES)
def test_one_cache(compiler, name, slots_type, fuse):
    layout, dtype, sizes, strides, slots = CASES[name]
    heads = sizes[1] if layout in ("hnd", "flat") else sizes[2]
    values = rows(len(slots), heads, sizes[-1], dtype)
    actual, wanted = (sparse_for(sizes, strides, dtype.itemsize) for _ in "12")
    places = torch.tensor(slots, dtype=slots_type)
    writes = [Write(actual.view(dtype, sizes, strides), values, layout)]
    call(build(compiler, writes, places, fuse), writes, places)
    store(wanted.view(dtype, sizes, strides), writes[0], slots)
    assert actual.pages() == wanted.pages()
    assert max(actual.pages()) >= 2**32


def store(cache: torch.Tensor, write: Write, slots: Sequence[int]) -> None:
    """The oracle, row by row."""
    for slot, row in zip(slots, write.rows, strict=True):
        write.store(slot, row, cache)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("slots_type", [torch.int32, torch.int64])
@pytest.mark.parametrize("layout", ["hnd", "nhd"])
def test_members_of_one_pool(compiler, layout, slots_type, fuse):
    """K and V of layer 59 of 60 in pages that all layers share."""
    pages, layers, page, heads, head_dim = 1500, 60, 16, 8, 128
    member = page * heads * head_dim
    inner = (1024, 128, 1) if layout == "nhd" else (2048, 128, 1)
    sizes = (pages, *((page, heads) if layout == "nhd" else (heads, page)), head_dim)
    strides = (layers * 2 * member, *inner)
    slots = torch.tensor([0, -1, 1093 * page, 1400 * page + 3], dtype=slots_type)
    pools = [Sparse(2 * pages * layers * 2 * member) for _ in "12"]
    actual, wanted = (
        [
            Write(
                pool.view(BF16, sizes, strides, (59 * 2 + place) * member),
                rows(4, heads, head_dim, seed=place),
                layout,
            )
            for place in range(2)
        ]
        for pool in pools
    )
    call(build(compiler, actual, slots, fuse), actual, slots)
    for write in wanted:
        store(write.cache, write, slots.tolist())
    assert pools[0].pages() == pools[1].pages()
    assert max(pools[0].pages()) >= 2**32


@pytest.mark.parametrize("fuse", FUSE)
def test_values_far_apart(compiler, fuse):
    """Rows of values 2^26 elements apart, as those of caches may be."""
    sizes, strides = (64, 1, 8), (67_108_864, 8, 1)
    far = sparse_for(sizes, strides, 4)
    values = far.view(F32, sizes, strides)
    values.copy_(rows(*sizes, dtype=F32))
    before = far.pages()
    write = Write(strided.view((64, 1, 8), dtype=F32), values, "flat")
    slots = torch.arange(64).flip(0)
    call(build(compiler, [write], slots, fuse), [write], slots)
    assert torch.equal(write.cache.flip(0), values)
    assert far.pages() == before


@pytest.mark.parametrize("fuse", FUSE)
def test_pages_are_counted_at_each_call(compiler, fuse):
    """A slot that is outside becomes one inside when the cache grows, and is outside
    again when it shrinks."""
    page, strides = (16, 32, 128), (65_536, 4096, 128, 1)
    pool = sparse_for((70_000, *page), strides, 2)
    far_row = pool.view(BF16, (70_000, *page), strides)[65_536, 5]
    values = rows(2, 32, 128)
    slots = torch.tensor([3, 65_536 * 16 + 5])

    def writes(pages: int) -> list[Write]:
        return [Write(pool.view(BF16, (pages, *page), strides), values)]

    library = build(compiler, writes(1), slots, fuse)
    for pages in (65_536, 65_537, 65_536, 70_000):
        far_row.zero_()
        if pages > 65_536:
            call(library, writes(pages), slots)
            assert torch.equal(far_row, values[1])
        else:
            with pytest.raises(abi.KernelError, match="SX5"):
                call(library, writes(pages), slots)
            assert not far_row.any()
