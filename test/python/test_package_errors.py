# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with wrong arguments name the argument, and write nothing."""

import pytest
import torch

import kvfuse
from kvfuse_testing.package import DIM, HEADS, PAGE, make_inputs, write_layer

NAMES = ("k_cache", "v_cache", "index_cache", "k", "v", "index_k", "slots")


@pytest.fixture(scope="module")
def compiled():
    return kvfuse.compile(write_layer, make_inputs().arguments)


def wrong_calls() -> dict[str, tuple[type[Exception], str, dict]]:
    """Case -> error, what its message matches, and the arguments that are wrong."""
    arguments = dict(zip(NAMES, make_inputs().arguments, strict=True))
    k, slots = arguments["k"], arguments["slots"]
    return {
        "dtype of a cache": (
            TypeError,
            "'v_cache'.*float8_e4m3fn.*bfloat16",
            {"v_cache": arguments["v_cache"].to(torch.bfloat16)},
        ),
        "dtype of rows": (TypeError, "'k'.*bfloat16.*float32", {"k": k.float()}),
        "dtype of slots": (TypeError, "'slots'.*int32.*int64", {"slots": slots.long()}),
        "rank": (ValueError, "'k'.*", {"k": k.flatten(1)}),
        "no tensor": (TypeError, "'slots'", {"slots": [1, 2]}),
        "None": (TypeError, "'k'", {"k": None}),
        "page size": (
            ValueError,
            "'index_cache'",
            {"index_cache": torch.zeros(4, 1, 2 * PAGE, DIM, dtype=torch.bfloat16)},
        ),
        "heads": (ValueError, "'k'", {"k": k[:, : HEADS - 1]}),
        "fewer rows than slots": (ValueError, "SX10", {"k": k[:2]}),
        "fewer slots than rows": (ValueError, "SX10", {"slots": slots[:2]}),
        "one cache twice": (
            ValueError,
            "SM8",
            {"v_cache": arguments["k_cache"], "k_cache": arguments["k_cache"]},
        ),
        "rows in a cache": (
            ValueError,
            "SM8",
            {"index_k": arguments["index_cache"][:6, :, 0]},
        ),
        "a slot past the end": (IndexError, "SX5", {"slots": slots + 1000}),
    }


@pytest.mark.parametrize("case", wrong_calls())
def test_wrong_arguments_are_named_and_nothing_is_written(compiled, case):
    """The dtype expected comes first, then what was passed."""
    inputs, before = make_inputs(), make_inputs()
    kind, message, wrong = wrong_calls()[case]
    arguments = dict(zip(NAMES, inputs.arguments, strict=True))
    if "index_k" in wrong:
        wrong = {"index_k": inputs.index_pool[:6, :, 0]}
    elif "v_cache" in wrong and "k_cache" in wrong:
        wrong = {"v_cache": arguments["k_cache"]}
    with pytest.raises(kind, match=message):
        compiled(*(arguments | wrong).values())
    inputs.assert_same_bytes(before)


@pytest.mark.parametrize("count", [0, 6, 8])
def test_a_wrong_number_of_arguments(compiled, count):
    arguments = (*make_inputs().arguments, torch.zeros(1))[:count]
    with pytest.raises(TypeError):
        compiled(*arguments)


def test_an_unknown_name(compiled):
    with pytest.raises(TypeError, match="rows"):
        compiled(*make_inputs().arguments, rows=None)


def test_a_function_for_a_gpu_refuses_tensors_on_the_cpu():
    inputs = make_inputs()
    compiled = kvfuse.compile(write_layer, inputs.arguments, target="sm_90")
    with pytest.raises(ValueError, match="'k_cache'"):
        compiled(*inputs.arguments)
    inputs.assert_same_bytes(make_inputs())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("fuse", "maybe"),
        ("negative", "clamp"),
        ("out_of_bounds", "wrap"),
        ("pdl", "sometimes"),
    ],
)
def test_unknown_values_of_options_are_errors(option, value, capfd):
    with pytest.raises(ValueError, match=f"{option}.*{value}"):
        kvfuse.compile(write_layer, make_inputs().arguments, **{option: value})
    assert not capfd.readouterr().err


def test_an_unknown_target_is_an_error():
    with pytest.raises(ValueError, match="z80"):
        kvfuse.compile(write_layer, make_inputs().arguments, target="z80")


def test_compile_errors_have_the_line_of_the_model():
    def accumulate(cache, slots, rows):
        cache.index_put_((slots,), rows, accumulate=True)

    inputs = torch.zeros(8, DIM), torch.arange(3), torch.ones(3, DIM)
    with pytest.raises(kvfuse.CompileError, match=r"test_package_errors\.py:\d+"):
        kvfuse.compile(accumulate, inputs, fuse="required")
