# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that engines and compilers had: aliases, order, layers.

A test has the number of its case, sections K, L and N. All programs are compared with
torch eager, fused and unfused.
"""

import itertools
import re
import subprocess

import pytest
import torch

from kvfuse_testing import torch_programs
from kvfuse_testing.cases_torch import (
    PAGE,
    PAGES,
    SLOTS,
    cache,
    check,
    check_bytes,
    check_refused,
    head_major,
    paged,
    rows,
    values,
    zeros,
)

# K: in place.


def test_K1_scatter_through_a_flat_view(compiler):
    """One kernel on the bytes that were named, no copy of the buffer."""

    def write(buffer, places, new):
        buffer.view(-1)[places] = new
        return buffer

    arguments = (zeros(8, 8, dtype=torch.uint8), torch.tensor([0, 9, 63]))
    new = torch.tensor([1, 2, 3], dtype=torch.uint8)
    compiled = check(compiler, write, (*arguments, new), (1,))
    assert compiled.kernels == 1


def test_K2_slices_of_one_argument(compiler):
    def write(kv, slots, k, v):
        paged(kv[0], slots, k)
        paged(kv[1], slots, v)

    check(
        compiler,
        write,
        (zeros(2, 4, 16, 8)[..., None, :], SLOTS, values(1), values(1, 1)),
        (2,),
    )


def test_K4_values_from_the_cache_itself(compiler):
    """A copy that the program makes first is not dropped."""

    def write(cache, slots):
        head_major(cache, slots, cache[1, :, :3].clone().transpose(0, 1))

    check_bytes(compiler, write, (cache(), torch.tensor([4, 5, 6])), ["alias-value"])


def test_K5_both_versions_are_returned(compiler):
    def write(cache, slots, k, v):
        place = (slots // PAGE, None, slots % PAGE)
        first = torch.ops.aten.index_put(cache, place, k)
        return first, torch.ops.aten.index_put(first, place, v)

    check_refused(
        compiler, write, (cache(), SLOTS, values(), values(seed=1)), "old-cache-live"
    )


def test_K7_another_buffer_is_updated_too(compiler):
    def write(cache, seen, slots, k):
        head_major(cache, slots, k)
        seen.add_(slots.shape[0])

    arguments = (cache(), torch.zeros(4), SLOTS, values())
    check(compiler, write, arguments, (1,), caches=[0])


def test_K9_the_old_contents_are_returned(compiler):
    """Old contents that live on keep a cache from being written in place."""

    def write(kv, slots, k):
        old = kv.clone()
        paged(kv[0], slots, k)
        return old

    def keep(kv, slots, k):
        new = torch.select_scatter(
            kv, torch.ops.aten.index_put(kv[0], (slots,), k), 0, 0
        )
        return new, kv

    arguments = (rows(2, 24, 2, 8), SLOTS, values())
    check_refused(compiler, keep, arguments, "old-cache-live")
    arguments = (rows(2, 4, 16, 2, 8), SLOTS, values())
    check_bytes(compiler, write, arguments, ["old-cache-live"])


def test_K11_result_is_stored_to_the_argument(compiler):
    """The copy of a cache onto itself is no copy."""

    def write(cache, slots, k):
        cache.copy_(cache.index_copy(0, slots, k))

    check(compiler, write, (rows(24, 2, 8), SLOTS, values()), (1,))


# L: order.


@pytest.mark.parametrize(
    "passes", [("canonicalize", "cse"), ("cse", "symbol-dce", "canonicalize")]
)
def test_L1_general_passes_keep_the_write(compiler, passes):
    """A write in memory has effects: it is neither dead nor common."""

    def write(cache, slots, k):
        head_major(cache, slots, k)
        head_major(cache, slots, k + 1)

    program = torch_programs.export_program(write, (cache(), SLOTS, values()))
    exported = torch_programs.import_program(program)
    options = ("--target=cpu", "--emit=kv", "--mutates=0")
    text = compiler.run("-", *options, text=exported.text).stdout.decode()
    tool = compiler.path.with_name("kvfuse-opt")
    done = subprocess.run(
        [str(tool), "--allow-unregistered-dialect", *(f"--{name}" for name in passes)],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    count = lambda text: len(re.findall(r"call @kv_write|kv\.write", text))
    assert count(done.stdout.decode()) == count(text)


@pytest.mark.parametrize(
    "reads", list(itertools.product([False, True], repeat=3)), ids=str
)
def test_L3_reads_before_between_and_after(compiler, reads):
    """Each read sees what had been written when the program made it. What is read
    and used later may keep the cache from being written in place."""

    def write(kc, vc, slots, k, v):
        seen = []
        for place, read in enumerate(reads):
            if read:
                seen += [kc[1] + 1, vc[1] * 2]
            if place == 0:
                head_major(kc, slots, k)
            elif place == 1:
                head_major(vc, slots, v)
        return tuple(seen)

    arguments = (cache(), cache(), SLOTS, values(), values(seed=1))
    check_bytes(compiler, write, arguments, ["old-cache-live"])


def test_L3_view_that_is_used_late(compiler):
    """A view made before the write and read after it is not the new row."""

    def write(kc, slots, k):
        old = kc[1]
        new = torch.ops.aten.index_put(kc, (slots // PAGE, None, slots % PAGE), k)
        return new, old + 1

    check_refused(compiler, write, (cache(), SLOTS, values()), "old-cache-live")


def test_L5_values_made_from_a_reader(compiler):
    """V is computed from K's cache: the writes cannot be one."""

    def write(kc, vc, slots, k, v):
        head_major(kc, slots, k)
        head_major(vc, slots, v + kc[1].sum())

    arguments = (cache(), cache(), SLOTS, values(), values(seed=1))
    check(compiler, write, arguments, (1, 1))


# N: layers.


def test_N1_values_have_another_user(compiler):
    """Rotated keys reach the cache and the attention."""

    def write(cache, slots, k):
        rotated = torch.roll(k, 4, dims=-1) * 2
        head_major(cache, slots, rotated.to(torch.float8_e4m3fn))
        return rotated + 1

    arguments = (zeros(6, 2, 4, 8, dtype=torch.float8_e4m3fn), SLOTS, values())
    check(compiler, write, arguments, (1,))


def test_N3_a_layer_that_only_reads(compiler):
    """It has no writes of its own, and gets none."""

    def write(cache, slots, k, q):
        head_major(cache, slots, k)
        first = cache.sum() * q
        return first, cache.sum() * (q + 1)

    check(compiler, write, (cache(), SLOTS, values(), values(seed=1)), (1,))


def test_N3_two_layers_write_one_cache(compiler):
    """The second one wins where both write."""

    def write(cache, slots, k, v):
        head_major(cache, slots, k)
        head_major(cache, slots, v)

    arguments = (cache(), SLOTS, values(), values(seed=1))
    exported = torch_programs.import_program(
        torch_programs.export_program(write, arguments)
    )
    for fuse in ("on", "off"):
        compiled = torch_programs.compile_exported(compiler, exported, fuse)
        assert not torch_programs.differences(
            compiled, exported, write, arguments, exported.mutated
        )


@pytest.mark.parametrize("slot", [0, PAGE - 1, PAGE, PAGES * PAGE - 1])
def test_N7_page_edges(compiler, slot):
    check(compiler, head_major, (cache(), torch.tensor([slot]), rows(1, 2, 8)), (1,))


@pytest.mark.parametrize("position", [3, 4, 5])
def test_N7_window_edges(compiler, position):
    """A ring of four positions."""

    def write(cache, positions, k):
        cache[:, :, positions % 4] = k

    arguments = (rows(1, 2, 4, 8), torch.tensor([position]), rows(1, 2, 1, 8))
    check(compiler, write, arguments, (1,))
