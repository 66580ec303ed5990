# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decoder with kvfuse's pass in Inductor: in the generated code each layer writes
its cache in one call, in place, and no cache is copied."""

import re

import pytest

torch = pytest.importorskip("torch")
from torch._inductor import config
from torch._inductor.utils import run_and_get_code

import kvfuse.torch
from kvfuse_testing import decoder
from kvfuse_testing.torch_graphs import is_of_chain, recorded, without

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SHAPE = decoder.Shape()
CALL = re.compile(r"torch\.ops\.kvfuse\.write\.default\('\w+:\w+:.*?', \[(.*?)\], ")


@pytest.fixture(autouse=True)
def enabled():
    """The pass, and nothing compiled by another test."""
    torch._dynamo.reset()
    with config.patch(force_disable_caches=True):
        kvfuse.torch.enable()
        yield
        kvfuse.torch.disable()
    torch._dynamo.reset()


@pytest.mark.parametrize(
    "dtype, layout, pooled",
    [
        pytest.param(torch.bfloat16, "NHD", False, id="bf16-NHD-separate"),
        pytest.param(torch.float8_e4m3fn, "HND", True, id="fp8-HND-pool"),
    ],
)
def test_decoder(dtype, layout, pooled):
    """Logits as eager's but for Inductor's own rounding; calls on the caches
    themselves, and nothing else that writes them."""
    model = decoder.make_decoder(SHAPE, layout, DEVICE)
    expected = decoder.make_caches(SHAPE, dtype, layout, pooled, DEVICE)
    caches = decoder.make_caches(SHAPE, dtype, layout, pooled, DEVICE)
    logits = decoder.run(model, SHAPE, expected)

    compiled = torch.compile(model, fullgraph=True)
    with recorded() as graphs:
        given, (code,) = run_and_get_code(decoder.run, compiled, SHAPE, caches)

    torch.testing.assert_close(given, logits, rtol=1e-4, atol=1e-5)
    for buffer, wanted in zip(caches.buffers, expected.buffers, strict=True):
        torch.testing.assert_close(
            buffer.float(), wanted.float(), rtol=2**-3, atol=2**-6
        )

    (graph,) = graphs
    assert kvfuse.torch.statistics() == kvfuse.torch.Statistics(1, SHAPE.layers, 0)
    assert all(map(is_of_chain, without(graph.before, graph.after)))
    added = without(graph.after, graph.before)
    assert len([x for x in added if "getitem" not in x.target]) == SHAPE.layers

    inputs = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
    written = [name for call in CALL.findall(code) for name in call.split(", ")]
    assert len(CALL.findall(code)) == SHAPE.layers
    assert len(set(written)) == len(written) == len(caches.buffers)
    assert set(written) <= set(inputs)
    size = caches.buffers[0].numel()
    whole = rf"\.copy_\(|\b{size}LL\b|empty_strided_\w+\(\({SHAPE.pages},"
    assert not re.search(whole, code)


def test_tensors_with_the_negative_bit(caplog):
    """Inductor has no call of an operation with them: the graph stays as it is."""

    def write(cache, slots, rows):
        cache[slots] = rows

    rows = torch.randn(3, 8, device=DEVICE)
    inputs = torch.zeros(9, 8, device=DEVICE), torch.arange(3, device=DEVICE), rows
    negative = torch.complex(rows, rows).conj().imag
    torch.compile(write)(*inputs[:2], negative)
    assert kvfuse.torch.statistics() == kvfuse.torch.Statistics(1, 0, 0)
    assert "left as it is: Inductor takes no negative bit" in caplog.text
    torch.compile(write)(*inputs)
    assert torch.equal(inputs[0][:3], rows)
    assert kvfuse.torch.statistics() == kvfuse.torch.Statistics(2, 1, 0)
