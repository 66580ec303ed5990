# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that engines and compilers had: aliases, order, spellings, layers.

A test has the number of its case, sections K to N. All programs are compared with
torch eager, fused and unfused.
"""

import itertools
import json
import re
import subprocess

import pytest
import torch

from kvfuse_testing import field_kv, torch_programs
from kvfuse_testing.cases_torch import (
    check,
    check_bytes,
    check_refused,
    head_major,
    paged,
    rows,
    zeros,
)

SLOTS = torch.tensor([2, 9, 14])
PAGE, PAGES = 4, 6


def cache(heads: int = 2, **options) -> torch.Tensor:
    """A head-major cache [B, H, P, D] that is not empty."""
    return rows(PAGES, heads, PAGE, 8, seed=9, **options)


def values(heads: int = 2, seed: int = 0) -> torch.Tensor:
    """Rows [T, H, D] for SLOTS."""
    return rows(3, heads, 8, seed=seed)


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


@pytest.mark.parametrize("reads", itertools.product([False, True], repeat=3), ids=str)
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


# M: matching.


def test_M1_nothing_to_fuse(compiler):
    """Silence is a report without functions; `required` is an error."""

    def add(x, y):
        return x + y

    program = torch_programs.export_program(add, (values(), values()))
    text = torch_programs.import_program(program).text
    done = compiler.run(
        "-", "--target=cpu", "--emit=kv", "--report=-", "-o", "/dev/null", text=text
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["functions"] == []
    done = compiler.run("-", "--target=cpu", "--emit=kv", "--fuse=required", text=text)
    assert done.returncode == 1 and b"no cache write was found" in done.stderr


def test_M2_required_and_impossible(compiler):
    """The reason is the one of the write that cannot be fused."""

    def write(cache, slots, k):
        cache.index_put_((slots,), k, accumulate=True)

    program = torch_programs.export_program(write, (rows(24, 2, 8), SLOTS, values()))
    text = torch_programs.import_program(program).text
    options = ("--target=cpu", "--emit=kv", "--fuse=required", "--mutates=0")
    done = compiler.run("-", *options, text=text)
    assert done.returncode == 1 and b"accumulate" in done.stderr


@pytest.mark.parametrize("order", itertools.permutations("kvi"), ids="".join)
def test_M3_any_order_of_writes_and_results(compiler, order):
    heads = {"k": 2, "v": 2, "i": 1}

    def write(kc, vc, ic, slots, k, v, i):
        caches = {"k": kc, "v": vc, "i": ic}
        new = {"k": k, "v": v, "i": i}
        for name in order:
            head_major(caches[name], slots, new[name])
        return tuple(caches[name] for name in reversed(order))

    caches = [cache(heads[name]) for name in "kvi"]
    new = [values(heads[name], seed) for seed, name in enumerate("kvi")]
    check(compiler, write, (*caches, SLOTS, *new), (3,))


def test_M4_names_decide_nothing(compiler):
    """The layer of test/Field/kv/T4.mlir with other names."""
    text = field_kv.text("T4")
    renamed = re.sub(r"%(\w+)", r"%out_\1", text).replace("@T4", "@attention")
    assert renamed != text
    one, other = (
        torch_programs.compile_text(compiler, each) for each in (text, renamed)
    )
    assert one.launches == other.launches == (3,)


SPELLINGS = {
    "index_put_": lambda c, s, k: c.index_put_((s,), k),
    "setitem": lambda c, s, k: c.__setitem__(s, k),
    "put and copy_": lambda c, s, k: c.copy_(c.index_put((s,), k)),
    "functional": lambda c, s, k: c.index_put((s,), k),
    "_unsafe_index_put": lambda c, s, k: torch.ops.aten._unsafe_index_put(c, [s], k),
    "index_copy_": lambda c, s, k: c.index_copy_(0, s, k),
    "index_copy": lambda c, s, k: c.index_copy(0, s, k),
    "scatter": lambda c, s, k: c.scatter(0, s[:, None, None].expand_as(k), k),
    "scatter_": lambda c, s, k: c.scatter_(0, s[:, None, None].expand_as(k), k),
    "slice": lambda c, s, k: c[:, :, :].index_put_((s,), k),
    "clone": lambda c, s, k: c.copy_(c.clone().index_put_((s,), k)),
    "view": lambda c, s, k: c.view(24, 16).index_put_((s,), k.reshape(3, 16)),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_M5_spellings(compiler, spelling):
    def write(cache, slots, k):
        result = SPELLINGS[spelling](cache, slots, k)
        mutates = spelling.endswith("_") or spelling in (
            "setitem",
            "slice",
            "clone",
            "view",
        )
        return None if mutates else result

    check(compiler, write, (rows(24, 2, 8), SLOTS, values()), (1,))


def test_M6_full_slices_are_nothing(compiler):
    def write(cache, positions, k):
        cache[:, :, positions] = k

    check(compiler, write, (rows(1, 3, 16, 8), SLOTS, rows(1, 3, 3, 8, seed=1)), (1,))


def test_M6_a_part_is_not_the_whole(compiler):
    """Heads 1 and 2 of three: the first one keeps its rows."""

    def write(cache, positions, k):
        cache[:, 1:3, positions] = k

    check(compiler, write, (rows(1, 3, 16, 8), SLOTS, rows(1, 2, 3, 8, seed=1)), (1,))


def test_M8_generic_operator(compiler):
    """The write as an operation that torch-mlir has no name for: fused, or named."""

    def write(cache, slots, k):
        return torch.ops.aten._unsafe_index_put(cache, [slots], k)

    program = torch_programs.export_program(write, (rows(24, 2, 8), SLOTS, values()))
    text = torch_programs.import_program(program).text
    text, count = re.subn(
        r'"torch\.aten\.[\w.]*index_put[\w.]*"(\([^)]*\)) :',
        r'"torch.operator"\1 <{name = "torch.aten._unsafe_index_put"}> :',
        text,
    )
    assert count == 1
    compiled = torch_programs.compile_text(compiler, text, "--mutates=0")
    assert compiled.launches == (1,) or "opaque-op" in compiled.reasons


def test_M10_layers_share_a_kernel(compiler):
    """Two layers are two calls of one function."""

    def write(*tensors):
        *layers, slots = tensors
        for n in range(2):
            kc, vc, k, v = layers[4 * n : 4 * n + 4]
            head_major(kc, slots, k)
            head_major(vc, slots, v)
            if n == 0:
                # What the next layer is computed from.
                layers[6] = layers[6] + kc.sum()

    layers = [make() for _ in range(2) for make in (cache, cache, values, values)]
    program = torch_programs.export_program(write, (*layers, SLOTS))
    text = torch_programs.import_program(program).text
    options = ("--target=cpu", "--emit=kv", "--mutates=0,1,4,5", "--no-versioning")
    done = compiler.run("-", *options, "--report=-", "-o", "/dev/null", text=text)
    report = json.loads(done.stdout)
    assert [site["destinations"] for site in report["functions"][0]["fused"]] == [2, 2]
    assert len(report["kernels"]) == 1


def test_M11_as_many_tokens_as_heads(compiler):
    """Separated tensor indices put the tokens first (SX8)."""
    arguments = (cache(3), torch.tensor([2, 9, 14]), rows(3, 3, 8))
    check(compiler, head_major, arguments, (1,))


def test_M11_page_is_a_number(compiler):
    """With a number for the page the heads come first."""

    def write(cache, offsets, k):
        cache[2, :, offsets, :] = k

    def tokens_first(cache, offsets, k):
        cache[2].index_put_((torch.arange(3)[:, None], offsets[None]), k)

    arguments = (cache(3), torch.tensor([2, 0, 3]), rows(3, 3, 8))
    check(compiler, write, arguments, (1,))
    check(compiler, write, arguments, (1,), expected=tokens_first)


@pytest.mark.parametrize("shape", [(2, 8), (1, 2, 8), (3, 1, 8), (8,), (1, 1, 1), ()])
def test_M12_rows_that_broadcast(compiler, shape):
    check(compiler, head_major, (cache(), SLOTS, rows(*shape)), (1,))


def test_M12_index_of_rank_2(compiler):
    check(compiler, head_major, (cache(), SLOTS[None], rows(1, 3, 2, 8)), (1,))


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_M13_one_dimension_is_indexed(compiler, dim):
    def write(cache, places, k):
        cache[(slice(None),) * dim + (places,)] = k

    places = torch.tensor([2, 0])
    shape = [PAGES, 3, PAGE, 8]
    shape[dim] = 2
    check(compiler, write, (cache(3), places, rows(*shape)), (1,))


@pytest.mark.parametrize("dims", [(0, 2), (1, 3), (0, 1, 3)], ids=str)
def test_M13_dimensions_apart(compiler, dims):
    def write(cache, a, b, k):
        index = [slice(None)] * 4
        for dim, place in zip(dims, (a, b, a), strict=False):
            index[dim] = place
        cache[tuple(index)] = k

    arguments = (cache(3), torch.tensor([2, 0]), torch.tensor([1, 2]))
    left = [size for dim, size in enumerate((PAGES, 3, PAGE, 8)) if dim not in dims]
    check(compiler, write, (*arguments, rows(2, *left)), (1,))


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
