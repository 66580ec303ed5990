# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decoder under torch.compile(backend="kvfuse"): each layer writes its cache in one
call, all else is eager's, and so are logits and caches, bit for bit."""

import pytest

torch = pytest.importorskip("torch")
import kvfuse.torch  # noqa: E402
from kvfuse_testing.decoder import Decoder, Shape, make_caches, make_step  # noqa: E402
from kvfuse_testing.torch_graphs import WRITE, recorded  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SHAPE = Shape()
KINDS = [
    pytest.param(torch.bfloat16, "HND", False, id="bf16-HND-separate"),
    pytest.param(torch.bfloat16, "NHD", True, id="bf16-NHD-pool"),
    pytest.param(torch.float8_e4m3fn, "HND", True, id="fp8-HND-pool"),
    pytest.param(torch.float8_e4m3fn, "NHD", False, id="fp8-NHD-separate"),
]
#: What a write is made of, by the line of `write_rows` that it comes from. What goes
#: in and out of the graph comes from no line.
CHAIN = (
    "slots = slots.to(torch.int64)",
    "page, offset = slots // page_size, slots % page_size",
    "cache[page, :, offset, :] = rows.to(cache.dtype)",
    "cache[page, offset] = rows.to(cache.dtype)",
)


@pytest.fixture(autouse=True)
def fresh():
    """Nothing compiled by another test is used."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def make_decoder(layout):
    torch.manual_seed(0)
    return Decoder(SHAPE, layout).to(DEVICE).requires_grad_(False)


def run(model, caches, tokens=3):
    """Logits of a step of `tokens` tokens."""
    ids, slots, positions, table = make_step(SHAPE, tokens, DEVICE)
    return model(ids, caches.keys, caches.values, slots, positions, table)


def assert_same_bytes(caches, expected):
    for given, wanted in zip(caches.bytes(), expected.bytes(), strict=True):
        assert torch.equal(given, wanted)


@pytest.mark.parametrize("dtype, layout, pooled", KINDS)
def test_decoder(dtype, layout, pooled):
    """Logits and caches as eager's; a call for each layer, all else the originals."""
    model = make_decoder(layout)
    expected = make_caches(SHAPE, dtype, layout, pooled, DEVICE)
    caches = make_caches(SHAPE, dtype, layout, pooled, DEVICE)
    logits = run(model, expected)

    compiled = torch.compile(model, backend="kvfuse", fullgraph=True)
    with recorded() as graphs:
        given = run(compiled, caches)

    assert torch.equal(given, logits)
    assert_same_bytes(caches, expected)
    (graph,) = graphs
    calls = [step for step in graph.after if step.target == str(WRITE)]
    assert len(calls) == SHAPE.layers
    others = [step for step in graph.after if step.target != str(WRITE)]
    assert others == [
        step
        for step in graph.before
        if step.code and step.code not in CHAIN
    ]
