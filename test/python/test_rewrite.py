# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls in the place of a graph's nodes: where they may stand, and where they may not.

The graphs and the compiler's answers are written by hand; a call is an operation of
torch that writes in place, so that graphs run.
"""

import pytest

torch = pytest.importorskip("torch")
from torch.fx.experimental.proxy_tensor import make_fx

from kvfuse import rewrite as rewriting
from kvfuse.rewrite_sites import Found

aten = torch.ops.aten


def put(*operands):
    """What a compiled function does: rows into slots of each cache."""
    *caches, rows, slots = operands
    for cache in caches:
        cache[slots] = rows


def put_half(pool, rows, slots):
    """The same for the second half of a pool."""
    pool[1][slots] = rows


def emit(graph, site, operands):
    function = {"put": put, "put_half": put_half}[site.callee]
    graph.call_function(function, tuple(operands)).meta["val"] = None
    return [operands[number] for number in site.written]


def trace(function, *inputs):
    return make_fx(function, tracing_mode="fake")(*inputs)


def call(callee, writes, operands, written=(0,)):
    """An entry of the report's `calls`; operands are numbers of arguments, names of
    nodes, or entries."""
    kinds = {int: "argument", str: "value"}
    named = [x if isinstance(x, dict) else {kinds[type(x)]: x} for x in operands]
    return {
        "callee": callee,
        "location": f"model.py:{len(writes)}:0",
        "writes": list(writes),
        "operands": named,
        "written": list(written),
    }


def check(function, calls, *inputs, repeated=()):
    """Rewrites the trace of `function`, compares what it does to results and inputs,
    and returns the rewriting and the rewritten graph's targets."""
    module = trace(function, *inputs)
    names = [node.name for node in module.graph.find_nodes(op="placeholder")]
    result = rewriting.rewrite(module.graph, Found(calls, repeated), names, emit)
    module.recompile()
    expected, given = ([x.clone() for x in inputs] for _ in range(2))
    torch.testing.assert_close(module(*given), function(*expected))
    torch.testing.assert_close(given, expected)
    return result, [node.target for node in module.graph.nodes if node.op[:4] == "call"]


CACHE, ROWS, SLOTS = torch.zeros(6, 4), torch.ones(2, 4), torch.tensor([1, 4])
POOL = torch.zeros(2, 6, 4)


def write(cache, rows, slots):
    return aten.index_put(cache, [slots], rows)


def test_a_write_and_its_copy_become_a_call():
    def model(cache, rows, slots):
        new = write(cache, rows, slots)
        total = new.sum()
        cache.copy_(new)
        return total

    result, targets = check(
        model, [call("put", ["index_put"], [0, 1, 2])], CACHE, ROWS, SLOTS
    )
    assert targets == [put, aten.sum.default]
    assert len(result.replaced) == 1
    assert not result.refused


def test_readers_of_old_contents_come_first():
    """One of them stood behind the write, which a functional graph allows."""

    def model(cache, rows, slots):
        before = cache + 1
        new = write(cache, rows, slots)
        behind = cache[0] * 2
        after = new[0] * 3
        cache.copy_(new)
        return before, behind, after

    _, targets = check(
        model, [call("put", ["index_put"], [0, 1, 2])], CACHE, ROWS, SLOTS
    )
    place = targets.index(put)
    assert aten.add.Tensor in targets[:place]
    assert targets.count(aten.mul.Tensor) == 2
    assert aten.mul.Tensor in targets[:place]
    assert aten.mul.Tensor in targets[place:]


def test_two_writes_are_one_call_after_what_both_need():
    """The second write's rows come after a reader of the first one's result."""

    def model(keys, values, rows, slots):
        new_keys = write(keys, rows, slots)
        total = new_keys.sum()
        new_values = write(values, rows, slots)
        keys.copy_(new_keys)
        values.copy_(new_values)
        return total, new_values * 2

    one = call("put", ["index_put", "index_put_1"], [0, 1, 2, 3], (0, 1))
    _, targets = check(model, [one], CACHE, CACHE + 1, ROWS, SLOTS)
    assert targets == [put, aten.sum.default, aten.mul.Tensor]


def test_order_that_cannot_be_is_refused():
    """The second write's rows are computed from the first one's result."""

    def model(keys, values, rows, slots):
        new_keys = write(keys, rows, slots)
        new_values = write(values, new_keys[0] + rows, slots)
        keys.copy_(new_keys)
        values.copy_(new_values)

    module = trace(model, CACHE, CACHE + 1, ROWS, SLOTS)
    (rows,) = module.graph.find_nodes(op="call_function", target=aten.add.Tensor)
    one = call("put", ["index_put", "index_put_1"], [0, 1, rows.name, 3], (0, 1))
    result, targets = check(model, [one], CACHE, CACHE + 1, ROWS, SLOTS)
    assert put not in targets
    assert not result.replaced
    ((location, reason),) = result.refused
    assert location == "model.py:2:0"
    assert reason.startswith("order")


def written_back(cache, rows, slots):
    cache.copy_(write(cache, rows, slots))


def old_after_new(cache, rows, slots):
    new = write(cache, rows, slots)
    mixed = cache * new.sum()
    cache.copy_(new)
    return mixed


def not_written_back(cache, rows, slots):
    return write(cache, rows, slots)


def written_twice(cache, rows, slots):
    new = write(cache, rows, slots)
    cache.copy_(new * 2)
    return new.sum()


def rows_of_the_cache(cache, rows, slots):
    new = write(cache, cache[:2], slots)
    cache.copy_(new)


@pytest.mark.parametrize(
    "model, rows, reason",
    [
        (old_after_new, 1, "order"),
        (not_written_back, 1, "not a whole input"),
        (written_twice, 1, "changed by others"),
        (rows_of_the_cache, "slice_1", "may be part of"),
        (written_back, "gone", "no node of the graph is 'gone'"),
    ],
)
def test_what_may_not_be_is_refused(model, rows, reason):
    """Nothing is changed then."""
    module = trace(model, CACHE, ROWS, SLOTS)
    before = str(module.graph)
    names = [node.name for node in module.graph.find_nodes(op="placeholder")]
    calls = [call("put", ["index_put"], [0, rows, 2])]
    result = rewriting.rewrite(module.graph, Found(calls), names, emit)
    assert str(module.graph) == before
    assert not result.replaced
    assert reason in result.refused[0][1]


@pytest.mark.parametrize(
    "rows, slots, reason",
    [
        (ROWS.to("meta"), SLOTS, "is on cpu, not on meta"),
        (torch.ones(4, 4, device="meta"), SLOTS.to("meta"), "neither a tensor"),
    ],
    ids=["device", "list"],
)
def test_operands_that_a_function_cannot_take(rows, slots, reason):
    """torch takes slots of the CPU for any cache; a list is no tensor."""

    def model(cache, rows, slots):
        part = aten.split(rows, 2)[0]
        cache.copy_(write(cache, part, slots))

    module = trace(model, CACHE.to("meta"), rows, slots)
    names = [node.name for node in module.graph.find_nodes(op="placeholder")]
    operand = "split" if len(rows) > 2 else 1
    calls = [call("put", ["index_put"], [0, operand, 2])]
    result = rewriting.rewrite(module.graph, Found(calls), names, emit)
    assert not result.replaced
    assert reason in result.refused[0][1]


def test_a_part_of_a_pool_and_its_readers():
    """The write sees a part; readers of the part see it in the new pool."""

    def model(pool, rows, slots):
        part = write(aten.select(pool, 0, 1), rows, slots)
        new = aten.select_scatter(pool, part, 0, 1)
        pool.copy_(new)
        return part * 2, new[0] + 1

    _, targets = check(
        model, [call("put_half", ["index_put"], [0, 1, 2])], POOL, ROWS, SLOTS
    )
    assert put_half in targets
    assert aten.select_scatter.default not in targets
    assert aten.index_put.default not in targets


def test_a_part_put_back_elsewhere_is_refused():
    def model(pool, rows, slots):
        part = write(aten.select(pool, 0, 1), rows, slots)
        pool.copy_(aten.select_scatter(pool, part, 0, 0))

    result, targets = check(
        model, [call("put_half", ["index_put"], [0, 1, 2])], POOL, ROWS, SLOTS
    )
    assert put_half not in targets
    assert len(result.refused) == 1


def test_calls_one_after_the_other():
    """Each reader sees the contents of its time."""

    def model(cache, rows, slots):
        first = write(cache, rows, slots)
        between = first.sum()
        second = write(first, rows * 3, slots + 1)
        cache.copy_(second)
        return between, second.sum()

    module = trace(model, CACHE, ROWS, SLOTS)
    (rows,) = module.graph.find_nodes(op="call_function", target=aten.mul.Tensor)
    (slots,) = module.graph.find_nodes(op="call_function", target=aten.add.Tensor)
    after = {"call": 0, "operand": 0}
    calls = [
        call("put", ["index_put"], [0, 1, 2]),
        call("put", ["index_put_1"], [after, rows.name, slots.name]),
    ]
    result, targets = check(model, calls, CACHE, ROWS, SLOTS)
    assert len(result.replaced) == 2
    order = [x for x in targets if x in (put, aten.sum.default)]
    assert order == [put, aten.sum.default, put, aten.sum.default]


def test_calls_on_parts_of_a_pool_one_after_the_other():
    """The first call's whole is what puts its part back; rows of the second one are
    computed from it."""

    def model(pool, rows, slots):
        part = write(aten.select(pool, 0, 1), rows, slots)
        first = aten.select_scatter(pool, part, 0, 1)
        between = rows * first.sum()
        part = write(aten.select(first, 0, 1), between, slots)
        pool.copy_(aten.select_scatter(first, part, 0, 1))
        return part + 1

    calls = [
        call("put_half", ["index_put"], [0, 1, 2]),
        call("put_half", ["index_put_1"], [{"call": 0, "operand": 0}, "mul", 2]),
    ]
    result, targets = check(model, calls, POOL, ROWS, SLOTS)
    assert len(result.replaced) == 2
    assert [x for x in targets if x in (put_half, aten.sum.default)] == [
        put_half,
        aten.sum.default,
        put_half,
    ]
    assert aten.select_scatter.default not in targets


@pytest.mark.parametrize(
    "first, reason",
    [
        (call("put", ["gone"], [0, 1, 2]), "no node of the graph is 'gone'"),
        (call("put", ["index_put"], [1, 0, 2]), "no node of the graph is rows_1"),
    ],
)
def test_a_call_after_one_that_is_unknown_is_refused(first, reason):
    def model(cache, rows, slots):
        cache.copy_(write(write(cache, rows, slots), rows * 3, slots))

    second = call("put", ["index_put_1"], [{"call": 0, "operand": 0}, "mul", 2])
    result, targets = check(model, [first, second], CACHE, ROWS, SLOTS)
    assert put not in targets
    assert len(result.refused) == 2
    assert any(why.startswith(reason) for _, why in result.refused)


def test_a_repeated_write_goes_with_the_one_that_it_repeats():
    """Of a part of a pool, with another call and readers between; its result is read,
    and what puts it back is the pool."""

    def model(pool, rows, slots):
        part = write(aten.select(pool, 0, 1), rows, slots)
        first = aten.select_scatter(pool, part, 0, 1)
        total = first.sum()
        again = write(aten.select(first, 0, 1), rows, slots)
        second = aten.select_scatter(first, again, 0, 1)
        part = write(aten.select(second, 0, 1), rows * total, slots + 1)
        pool.copy_(aten.select_scatter(second, part, 0, 1))
        return again + 1

    calls = [
        call("put_half", ["index_put"], [0, 1, 2]),
        call("put_half", ["index_put_2"], [{"call": 0, "operand": 0}, "mul", "add"]),
    ]
    result, targets = check(model, calls, POOL, ROWS, SLOTS, repeated=["index_put_1"])
    assert len(result.replaced) == 2
    assert targets.count(put_half) == 2
    assert aten.index_put.default not in targets
    assert aten.select_scatter.default not in targets


def test_a_repeated_write_stays_with_one_that_stays():
    def model(cache, rows, slots):
        new = write(cache, rows, slots)
        cache.copy_(write(new, rows, slots))

    calls = [call("put", ["gone"], [0, 1, 2])]
    result, targets = check(model, calls, CACHE, ROWS, SLOTS, repeated=["index_put_1"])
    assert not result.replaced
    assert targets.count(aten.index_put.default) == 2
