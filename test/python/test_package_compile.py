# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kvfuse.compile: what it takes, what a call does and returns."""

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import kvfuse
from kvfuse_testing.package import (
    BLOCKS,
    DIM,
    HEADS,
    PAGE,
    make_inputs,
    write_layer,
    write_rows,
    written_by_eager,
)


class Layer(torch.nn.Module):
    def forward(self, k_cache, v_cache, index_cache, k, v, index_k, slots):
        write_layer(k_cache, v_cache, index_cache, k, v, index_k, slots)


@pytest.fixture(scope="module")
def compiled():
    return kvfuse.compile(write_layer, make_inputs().arguments)


def exported():
    copies = tuple(x.clone() for x in make_inputs().arguments)
    shapes = tuple({0: torch.export.Dim.AUTO} for _ in copies)
    return torch.export.export(Layer(), copies, dynamic_shapes=shapes)


def graph():
    """Caches are mutated by copies at the end, as AOTAutograd leaves it."""
    copies = [x.clone() for x in make_inputs().arguments]
    functional = torch.func.functionalize(write_layer)
    return make_fx(functional, tracing_mode="fake")(*copies)


@pytest.mark.parametrize("tokens", [0, 1, 6, 30])
def test_writes_in_place_what_eager_writes(compiled, tokens):
    """Caches are views of one pool, as many tokens as the call has."""
    inputs = make_inputs(tokens)
    assert compiled(*inputs.arguments) is None
    inputs.assert_same_bytes(written_by_eager(tokens=tokens))


@pytest.mark.parametrize(
    "program",
    [Layer(), exported(), graph()],
    ids=["module", "exported", "graph"],
)
def test_takes_programs_of_torch(program):
    is_module = isinstance(program, Layer)
    compiled = kvfuse.compile(program, make_inputs().arguments if is_module else None)
    inputs = make_inputs()
    compiled(*inputs.arguments)
    inputs.assert_same_bytes(written_by_eager())
    assert (compiled.launches_unfused, compiled.launches) == (14, 1)


def test_takes_mlir_as_text_and_as_a_file(compiled, tmp_path):
    path = tmp_path / "layer.mlir"
    path.write_text(compiled.mlir("input"))
    for program in (path.read_text(), path):
        inputs = make_inputs()
        kvfuse.compile(program, mutates=(0, 1, 2))(*inputs.arguments)
        inputs.assert_same_bytes(written_by_eager())


def test_mlir_without_mutates_names_what_to_declare(compiled):
    with pytest.raises(kvfuse.CompileError, match="mutates=0,1,2"):
        kvfuse.compile(compiled.mlir("input"))


def test_a_function_needs_example_inputs():
    with pytest.raises(TypeError, match="write_layer .* expects example_inputs"):
        kvfuse.compile(write_layer)


def test_a_call_may_name_its_arguments(compiled):
    inputs = make_inputs()
    caches, others = inputs.arguments[:3], inputs.arguments[3:]
    names = ("k", "v", "index_k", "slots")
    compiled(*caches, **dict(zip(names, others, strict=True)))
    inputs.assert_same_bytes(written_by_eager())


def test_returns_mutated_arguments_themselves():
    def write(k_cache, k, slots):
        write_rows(k_cache, slots, k)
        return {"cache": k_cache, "twice": (k_cache, None, 3)}

    k_cache, _, _, k, _, _, slots = make_inputs().arguments
    returned = kvfuse.compile(write, (k_cache, k, slots))(k_cache, k, slots)
    assert returned == {"cache": k_cache, "twice": (k_cache, None, 3)}
    assert returned["cache"] is k_cache and returned["twice"][0] is k_cache


def test_nested_inputs_and_options_that_are_no_tensors():
    def write(caches, rows, slots, *, scale=None, value=True):
        write_rows(caches["k"], slots, rows[0])
        if value:
            write_rows(caches["v"], slots, rows[1])

    def arguments():
        k_cache, v_cache, _, k, v, _, slots = (inputs := make_inputs()).arguments
        return inputs, ({"k": k_cache, "v": v_cache}, [k, v], slots)

    compiled = kvfuse.compile(write, arguments()[1])
    inputs, passed = arguments()
    expected, expected_arguments = arguments()
    compiled(*passed, scale=None)
    write(*expected_arguments)
    inputs.assert_same_bytes(expected)
    with pytest.raises(ValueError, match="value == True"):
        compiled(*passed, value=False)
    with pytest.raises(TypeError, match="nested"):
        compiled({"k": passed[0]["k"]}, *passed[1:])


@pytest.mark.parametrize("result", [None, (), (None, None), [3]], ids=repr)
def test_defaults_may_be_left_out(result):
    def write(cache, rows, slots, page_size=PAGE, *, scale=None):
        cache[slots // page_size, :, slots % page_size] = rows
        return result

    cache = torch.zeros(BLOCKS, HEADS, PAGE, DIM)
    rows, slots = torch.randn(5, HEADS, DIM), torch.arange(3, 8)
    compiled = kvfuse.compile(write, (cache, rows, slots))
    expected = cache.clone()
    write(expected, rows, slots)
    for options in ({}, {"page_size": PAGE}, {"scale": None}):
        cache.zero_()
        assert compiled(cache, rows, slots, **options) == result
        assert torch.equal(cache, expected)
    cache.zero_()
    with pytest.raises(ValueError, match="page_size == 4"):
        compiled(cache, rows, slots, 2)
    assert not cache.any()


def test_buffers_of_a_module_are_written():
    class Cached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.zeros(BLOCKS, HEADS, PAGE, DIM))

        def forward(self, k, slots):
            write_rows(self.cache, slots, k)

    module, expected = Cached(), Cached()
    _, _, _, k, _, _, slots = make_inputs().arguments
    compiled = kvfuse.compile(module, (k, slots))
    compiled(k, slots)
    expected(k, slots)
    assert torch.equal(module.cache, expected.cache) and expected.cache.any()


def test_example_inputs_cost_no_memory():
    """Caches of 2^50 bytes: only their sizes are used."""
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        cache = torch.empty(2**40, HEADS, PAGE, DIM, dtype=torch.float8_e4m3fn)
    _, _, _, k, _, _, slots = make_inputs().arguments
    compiled = kvfuse.compile(write_rows, (cache, slots, k))
    inputs, expected = make_inputs(), make_inputs()
    compiled(inputs.arguments[0], inputs.slots, k)
    write_rows(expected.arguments[0], inputs.slots, k)
    inputs.assert_same_bytes(expected)


def test_a_branch_on_sizes_is_tested_at_each_call():
    def write(cache, slots, rows):
        write_rows(cache, slots, rows if slots.shape[0] > 4 else rows * 2)

    k_cache, _, _, k, _, _, slots = make_inputs().arguments
    compiled = kvfuse.compile(write, (k_cache, slots, k))
    before = k_cache.clone()
    with pytest.raises(ValueError, match=r"compiled for inputs with slots\.shape\[0\]"):
        compiled(k_cache, slots[:4], k[:4])
    assert torch.equal(k_cache.view(torch.uint8), before.view(torch.uint8))


def test_bounds_of_dynamic_shapes_are_tested_at_each_call():
    tokens = torch.export.Dim("tokens", max=8)
    shapes = {"cache": None, "slots": {0: tokens}, "rows": {0: tokens}}
    k_cache, _, _, k, _, _, slots = make_inputs().arguments
    compiled = kvfuse.compile(write_rows, (k_cache, slots, k), dynamic_shapes=shapes)
    compiled(k_cache, slots, k)
    with pytest.raises(ValueError, match=r"slots\.shape\[0\] <= 8"):
        many = make_inputs(9)
        compiled(k_cache, many.slots, many.rows[0])


def test_a_reshaped_cache_has_the_layout_that_was_traced():
    """Eager's reshape of a cache with gaps is a copy, and its write is lost."""

    def write(cache, slots, rows):
        cache.reshape(-1, DIM)[slots] = rows

    rows, slots = torch.randn(5, DIM), torch.arange(5)
    compiled = kvfuse.compile(write, (torch.zeros(BLOCKS, PAGE, DIM), slots, rows))
    dense, pool = torch.zeros(BLOCKS, PAGE, DIM), torch.zeros(BLOCKS, 2, PAGE, DIM)
    compiled(dense, slots, rows)
    assert torch.equal(dense.view(-1, DIM)[:5], rows)
    with pytest.raises(ValueError, match="is_contiguous"):
        compiled(pool[:, 0], slots, rows)
    assert not pool.any()


def test_the_rest_of_a_program_stays():
    """Of a program that also reads its caches only the writes are compiled."""

    def layer(k_cache, v_cache, index_cache, k, v, index_k, slots):
        write_layer(k_cache, v_cache, index_cache, k, v, index_k, slots)
        scores = k.float() @ k_cache[slots.long() // PAGE, :, 0].float().mT
        return scores.softmax(-1), v_cache

    inputs, expected = make_inputs(), make_inputs()
    compiled = kvfuse.compile(layer, make_inputs().arguments)
    scores, cache = compiled(*(arguments := inputs.arguments))
    assert cache is arguments[1]
    assert torch.equal(scores, layer(*expected.arguments)[0])
    inputs.assert_same_bytes(expected)
    assert compiled.counters()["calls"] == 1
    with pytest.raises(ValueError, match="not compiled whole"):
        _ = compiled.function


def test_a_program_without_writes_runs_as_it_is():
    def double(rows):
        return rows * 2

    rows = torch.randn(3, DIM)
    compiled = kvfuse.compile(double, (rows,))
    assert torch.equal(compiled(rows), rows * 2)
    assert compiled.launches == 0 and not compiled.functions
    assert "no cache write was found" in compiled.explain()
    with pytest.raises(kvfuse.CompileError):
        kvfuse.compile(double, (rows,), fuse="required")


def test_options_reach_the_compiler():
    arguments = make_inputs().arguments
    unfused = kvfuse.compile(write_layer, arguments, fuse="off")
    assert unfused.launches == unfused.launches_unfused == 14
    inputs, expected = make_inputs(), written_by_eager()
    unfused(*inputs.arguments)
    inputs.assert_same_bytes(expected)

    inputs, expected = make_inputs(4), make_inputs(4)
    reserved = int(inputs.slots[0])
    inputs.slots[1] = -1
    skipping = kvfuse.compile(
        write_layer, arguments, reserved_slot=reserved, negative="skip"
    )
    skipping(*inputs.arguments)
    rows = tuple(rows[2:] for rows in expected.rows)
    write_layer(*expected.arguments[:3], *rows, expected.slots[2:])
    inputs.assert_same_bytes(expected)


def test_stages_and_ptx(compiled):
    assert "torch.aten" in compiled.mlir("input")
    assert compiled.mlir().count("kv.write at") == 1
    assert "define" in compiled.mlir("llvm")
    with pytest.raises(ValueError, match="target is the CPU"):
        _ = compiled.ptx
    with pytest.raises(ValueError, match="expects one of kv, writes"):
        compiled.mlir("assembly")
    for_gpu = kvfuse.compile(write_layer, make_inputs().arguments, target="sm_90")
    assert ".target sm_90" in for_gpu.ptx
    assert for_gpu.ptx.count(".entry") == len(for_gpu.report["kernels"])
    assert "gpu.launch_func" in for_gpu.mlir("gpu")


def test_tensors_that_require_grad_are_refused(compiled):
    inputs = make_inputs()
    caches, (k, *others), slots = inputs.arguments[:3], inputs.rows, inputs.slots
    k = k.float().requires_grad_().bfloat16()
    with pytest.raises(RuntimeError, match="'k' requires grad"):
        compiled(*caches, k, *others, slots)
    inputs.assert_same_bytes(make_inputs())
    with torch.no_grad():
        compiled(*caches, k, *others, slots)
    inputs.assert_same_bytes(written_by_eager())


def test_a_graph_with_rows_that_require_grad_is_refused():
    """Of a module's parameters, here: nothing is written."""

    class Projected(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.projection = torch.nn.Linear(DIM, DIM)

        def forward(self, cache, slots, hidden):
            cache[slots] = self.projection(hidden)
            return hidden

    module, cache = Projected(), torch.zeros(8, DIM)
    inputs = torch.arange(3), torch.randn(3, DIM)
    compiled = kvfuse.compile(module, (cache, *inputs))
    with pytest.raises(
        RuntimeError, match=r"of the write at .*\.py:\d+.* requires grad"
    ):
        compiled(cache, *inputs)
    assert not cache.any()
    expected = cache.clone()
    with torch.no_grad():
        assert compiled(cache, *inputs) is inputs[1]
        module(expected, *inputs)
    assert torch.equal(cache, expected) and cache.any()


def test_a_graph_keeps_its_parameters():
    """They are not copied: later changes of a weight are seen."""

    class Projected(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.eye(DIM))

        def forward(self, cache, slots, hidden):
            written = torch.index_put(cache, [slots], hidden @ self.weight)
            cache.copy_(written)
            return written.sum()

    module = Projected()
    cache, slots, hidden = torch.zeros(8, DIM), torch.arange(3), torch.randn(3, DIM)
    trace = make_fx(module, tracing_mode="fake", _allow_non_fake_inputs=True)
    compiled = kvfuse.compile(trace(cache, slots, hidden))
    with torch.no_grad():
        module.weight.mul_(2)
        total = compiled(cache, slots, hidden)
    assert torch.equal(cache[:3], 2 * hidden) and total == cache.sum()
    assert compiled.counters()["calls"] == 1


def test_a_graph_takes_only_what_was_traced():
    def layer(cache, slots, rows):
        write_rows(cache, slots, rows)
        return cache.sum()

    cache = torch.zeros(BLOCKS, HEADS, PAGE, DIM)
    slots, rows = torch.arange(5), torch.ones(5, HEADS, DIM)
    compiled = kvfuse.compile(layer, (cache, slots, rows))
    for kind, message, wrong in (
        (TypeError, "'rows': expects dtype torch.float32", (cache, slots, rows.half())),
        (TypeError, "'slots': expects a tensor", (cache, None, rows)),
        (ValueError, "'rows': expects ndim 3, got 2", (cache, slots, rows[:, 0])),
        (ValueError, "'rows': expects size 2 in dim", (cache, slots, rows[:, :1])),
        (
            ValueError,
            "'slots': expects a tensor on cpu",
            (cache, slots.to("meta"), rows),
        ),
    ):
        with pytest.raises(kind, match=message):
            compiled(*wrong)
    assert not cache.any()
    assert compiled(cache, slots, rows) == rows.sum()
