# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types, constants and names in the importer's text."""

import struct

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from kvfuse import importer, importer_text, importer_types
from torch.fx.experimental.proxy_tensor import make_fx
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect

DTYPES = sorted(
    {value for value in vars(torch).values() if isinstance(value, torch.dtype)}, key=str
)


@pytest.fixture(scope="module")
def context():
    """A context with the Torch dialect."""
    with ir.Context() as made:
        torch_dialect.register_dialect(made)
        yield made


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_have_the_numbers_of_torchscript(dtype):
    code = importer_types.dtype_code(dtype)
    if code is None:
        # Types of few bits, which no operator of a cache has.
        assert importer_types.element_type(dtype) == str(dtype).removeprefix("torch.")
        return
    graph = torch._C.Graph()
    constant = graph.insertConstant(dtype)
    assert f"value={code}]" in str(constant.node())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensor_types_are_text(dtype, context):
    """Every type parses; the ones that the Torch dialect has are its own."""
    text = importer_types.tensor_type((2, 3), dtype)
    if importer_types.dtype_code(dtype) is not None:
        assert str(ir.Type.parse(text, context)) == text


@given(value=st.floats())
def test_floats_keep_their_bits(value):
    with ir.Context() as context:
        text = importer_text.float_attribute(value)
        parsed = ir.FloatAttr(ir.Attribute.parse(text, context)).value
    assert struct.pack("d", parsed) == struct.pack("d", value)


@given(text=st.text())
def test_strings_are_quoted(text):
    with ir.Context() as context:
        parsed = ir.Attribute.parse(importer_text.quote(text), context)
    assert ir.StringAttr(parsed).value_bytes == text.encode()


def test_the_torch_dialect_takes_the_text(context):
    """A program of operators that torch-mlir knows is valid in its dialect."""

    def function(cache, slots, values, flag):
        page = torch.tensor([16])
        cache.index_put_((slots // page, slots % page), values.to(torch.bfloat16))
        parts = values.split([1, 2], 1)
        parts[0].zero_()
        largest, _ = torch.topk(values, 2)
        kept = torch.where(flag, values, float("-inf"))
        return torch.cat([largest, kept], -1), parts[1].mean(dim=[-1], keepdim=True)

    arguments = (
        torch.zeros(2, 16, 3, 8, dtype=torch.bfloat16),
        torch.arange(4),
        torch.ones(4, 3, 8),
        torch.tensor([True]),
    )
    imported = importer.to_mlir(make_fx(function, tracing_mode="fake")(*arguments))
    with context:
        module = ir.Module.parse(imported.text)
    assert module.operation.verify()
    assert imported.mutates == (0, 2)


def test_the_number_of_a_device_is_left_out():
    """Ranks whose tensors are on different GPUs find one entry in the cache."""
    texts = set()
    for number in range(2):
        graph = torch.fx.Graph()
        x = graph.placeholder("x")
        x.meta["val"] = torch.zeros(2)
        device = torch.device("cuda", number)
        copy = graph.call_function(
            torch.ops.aten._to_copy.default, (x,), {"device": device}
        )
        copy.meta["val"] = torch.zeros(2)
        graph.output(copy)
        texts.add(importer.to_mlir(torch.fx.GraphModule({}, graph)).text)
    (text,) = texts
    assert '<{value = "cuda"}>' in text
