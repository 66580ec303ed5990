# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Readers of old contents, ahead of what computes the new ones."""

import pytest

torch = pytest.importorskip("torch")
from torch.fx.experimental.proxy_tensor import make_fx

from kvfuse.rewrite_order import CycleError, put_readers_first, sort

aten = torch.ops.aten
CACHE, ROWS, SLOTS = torch.zeros(6, 4), torch.ones(2, 4), torch.tensor([1, 4])
POOL = torch.zeros(2, 6, 4)


def write(cache, rows, slots):
    return aten.index_put(cache, [slots], rows)


def order(model, *inputs):
    """Targets before and after; the graph computes the same."""
    module = make_fx(model, tracing_mode="fake")(*inputs)

    def listed():
        return [node.target for node in module.graph.nodes if node.op[:4] == "call"]

    before = listed()
    put_readers_first(module.graph)
    module.graph.lint()
    module.recompile()
    expected, given = ([x.clone() for x in inputs] for _ in range(2))
    torch.testing.assert_close(module(*given), model(*expected))
    torch.testing.assert_close(given, expected)
    return before, listed()


def test_a_late_reader_and_what_only_it_needs():
    """A reduction of old contents goes along; the product needs the new ones."""

    def model(cache, rows, slots):
        new = write(cache, rows, slots)
        total = new.sum()
        old = (cache + 1).amax()
        cache.copy_(new)
        return old * total

    _, after = order(model, CACHE, ROWS, SLOTS)
    assert after == [
        aten.add.Tensor,
        aten.amax.default,
        aten.index_put.default,
        aten.sum.default,
        aten.copy_.default,
        aten.mul.Tensor,
    ]


def test_a_late_reader_of_a_part():
    """The pool is written in two parts; what reads one is behind the other's write."""

    def model(pool, rows, slots):
        first = aten.select_scatter(
            pool, write(aten.select(pool, 0, 0), rows, slots), 0, 0
        )
        second = aten.select_scatter(
            first, write(aten.select(first, 0, 1), rows, slots), 0, 1
        )
        old = aten.select(first, 0, 0).sum()
        pool.copy_(second)
        return old

    _, after = order(model, POOL, ROWS, SLOTS)
    writes = [i for i, x in enumerate(after) if x is aten.index_put.default]
    assert writes[0] < after.index(aten.sum.default) < writes[1]


@pytest.mark.parametrize("is_late", [True, False], ids=["needs-it", "in-order"])
def test_all_else_stays(is_late):
    """One reader needs the new contents, too; the other comes first already."""

    def model(cache, rows, slots):
        other = rows * 2
        old = cache.sum()
        new = write(cache, rows, slots)
        mixed = cache * new.sum() if is_late else new * old
        cache.copy_(new)
        return mixed, other

    before, after = order(model, CACHE, ROWS, SLOTS)
    assert after == before


def test_inputs_that_are_overwritten_by_other_values():
    def model(cache, rows, slots):
        other = write(rows, rows, slots - slots)
        old = cache.sum()
        cache.copy_(torch.cat([other, other, other]))
        return old

    before, after = order(model, CACHE, ROWS, SLOTS)
    assert after == before


def test_sorting():
    needs = {1: [3], 2: [1], 3: [], 4: [5], 5: [4]}
    assert sort([1, 2, 3], lambda x: iter(needs[x])) == [3, 1, 2]
    with pytest.raises(CycleError) as caught:
        sort([1, 4], lambda x: iter(needs[x]))
    assert caught.value.items == [4, 5]
