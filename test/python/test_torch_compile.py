# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decoder under torch.compile(backend="kvfuse"): each layer writes its cache in one
call, all else is eager's, and so are logits and caches, bit for bit."""

import pytest

torch = pytest.importorskip("torch")
import kvfuse.torch  # noqa: F401
from kvfuse_testing.decoder import Shape, make_caches, make_decoder, run
from kvfuse_testing.torch_graphs import WRITE, is_of_chain, recorded, without

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SHAPE = Shape()
KINDS = [
    pytest.param(torch.bfloat16, "HND", False, id="bf16-HND-separate"),
    pytest.param(torch.bfloat16, "NHD", True, id="bf16-NHD-pool"),
    pytest.param(torch.float8_e4m3fn, "HND", True, id="fp8-HND-pool"),
    pytest.param(torch.float8_e4m3fn, "NHD", False, id="fp8-NHD-separate"),
]


@pytest.fixture(autouse=True)
def fresh():
    """Nothing compiled by another test is used."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def assert_same_bytes(caches, expected):
    for given, wanted in zip(caches.bytes(), expected.bytes(), strict=True):
        assert torch.equal(given, wanted)


@pytest.mark.parametrize("dtype, layout, pooled", KINDS)
def test_decoder(dtype, layout, pooled):
    """Logits and caches as eager's; a call for each layer, all else the originals."""
    model = make_decoder(SHAPE, layout, DEVICE)
    expected = make_caches(SHAPE, dtype, layout, pooled, DEVICE)
    caches = make_caches(SHAPE, dtype, layout, pooled, DEVICE)
    logits = run(model, SHAPE, expected)

    compiled = torch.compile(model, backend="kvfuse", fullgraph=True)
    with recorded() as graphs:
        given = run(compiled, SHAPE, caches)

    assert torch.equal(given, logits)
    assert_same_bytes(caches, expected)
    (graph,) = graphs
    added = without(graph.after, graph.before)
    assert [step.target for step in added] == [str(WRITE)] * SHAPE.layers
    assert all(map(is_of_chain, without(graph.before, graph.after)))
    kept, originals = (
        [step for step in steps if not is_of_chain(step)]
        for steps in (graph.after, graph.before)
    )
    assert kept == originals
