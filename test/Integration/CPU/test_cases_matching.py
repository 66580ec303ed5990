# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults that engines and compilers had in what they took for the same program.

A test has the number of its case, section M. All programs are compared with torch
eager, fused and unfused.
"""

import itertools
import json
import re

import pytest
import torch

from kvfuse_testing import field_kv, torch_programs
from kvfuse_testing.cases_torch import (
    PAGE,
    PAGES,
    SLOTS,
    cache,
    check,
    head_major,
    rows,
    values,
)


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


@pytest.mark.parametrize("order", list(itertools.permutations("kvi")), ids="".join)
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
