# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bytes that a layer's writes leave, fused and unfused, against torch eager.

Each signature goes through torch.export, torch-mlir and kvfuse-compile, runs on
the CPU from the kernels that a GPU would run, and the whole of every buffer is
compared: caches, what lies between and around their rows, values and slots.
"""

import numpy as np
import pytest
import torch

import models
from kvfuse_testing import abi, cases, layers, oracle
from kvfuse_testing.matrix import (
    FLAT,
    LAYER,
    MATRIX,
    NHD,
    OTHERS,
    PAGES,
    POLICIES,
    exported,
    policy_slots,
    spec_name,
    total_slots,
    usual_cases,
)

FUSE = ("on", "off")


def load(compiler, spec: models.LayerSpec, *options: str) -> abi.Library:
    """The layer as a shared library with every cache declared mutated."""
    mutates = ",".join(str(number) for number in range(len(spec.order)))
    path = compiler.compile(
        exported(spec),
        "--target=cpu",
        "--emit=shared",
        f"--mutates={mutates}",
        *options,
    )
    return abi.Library(path)


def run(library: abi.Library, case: cases.Case) -> list[np.ndarray]:
    """The case's buffers after the compiled layer ran."""
    arrays = case.make()
    library.call("main", *layers.view_tensors(case, arrays))
    return arrays


def check_usual_cases(compiler, spec: models.LayerSpec, *options: str) -> None:
    library = load(compiler, spec, *options)
    for name, case in usual_cases(spec):
        wrong = layers.differences(
            case, run(library, case), layers.run_eager(spec, case)
        )
        assert not wrong, f"{name}: {wrong}"


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("spec", MATRIX, ids=spec_name)
def test_matrix(compiler, spec, fuse):
    check_usual_cases(compiler, spec, f"--fuse={fuse}")


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("spec", OTHERS, ids=spec_name)
def test_others(compiler, spec, fuse):
    check_usual_cases(compiler, spec, f"--fuse={fuse}")


@pytest.mark.parametrize("spec", [*MATRIX[::9], *OTHERS[::6]], ids=spec_name)
def test_tokens_of_a_thread(compiler, spec):
    """The last thread may have fewer tokens than the others; blocks may be small."""
    check_usual_cases(compiler, spec, "--tokens-per-thread=5", "--block-size=64")


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_of_a_threads_tokens(compiler, policy):
    """Each token of a thread is left out, or fails, alone."""
    options, meaning = POLICIES[policy]
    library = load(compiler, LAYER, "--tokens-per-thread=2", *options)
    case = layers.layer_case(LAYER, "interleaved", PAGES, policy_slots(LAYER), seed=6)
    expected = oracle.write_layer(LAYER, case, meaning)
    wrong = layers.differences(case, run(library, case), expected)
    assert not wrong


@pytest.mark.parametrize("spec", [*MATRIX[::7], *OTHERS], ids=spec_name)
def test_oracle_agrees_with_torch(spec):
    """The row by row oracle and torch eager say the same where both can."""
    for name, case in usual_cases(spec):
        by_rows = oracle.write_layer(spec, case, oracle.Policy())
        wrong = layers.differences(case, by_rows, layers.run_eager(spec, case))
        assert not wrong, f"{name}: {wrong}"


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("spec", [LAYER, FLAT, NHD], ids=spec_name)
def test_no_tokens_sx9(compiler, spec, fuse):
    case = layers.layer_case(spec, "padded", PAGES, [], seed=1)
    arrays = run(load(compiler, spec, f"--fuse={fuse}"), case)
    assert not layers.differences(case, arrays, case.make())


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("spec", [LAYER, FLAT, NHD], ids=spec_name)
def test_one_token(compiler, spec, fuse):
    case = layers.layer_case(spec, "interleaved", PAGES, [spec.page + 3], seed=2)
    arrays = run(load(compiler, spec, f"--fuse={fuse}"), case)
    assert not layers.differences(case, arrays, layers.run_eager(spec, case))


def outside_written_rows(
    spec: models.LayerSpec, case: cases.Case, arrays: list[np.ndarray]
) -> list[str]:
    """Differences in `arrays` outside the rows that the case's valid slots name."""
    blanked = [array.copy() for array in arrays]
    before = case.make()
    tensors = layers.view_tensors(case, blanked)
    originals = layers.view_tensors(case, before)
    count = len(spec.order)
    for cache, original in zip(tensors[:count], originals[:count], strict=True):
        for slot in originals[-1].tolist():
            index = oracle.row_index(spec, tuple(cache.shape), slot, oracle.Policy())
            if index is not None:
                cache[index].copy_(original[index])
    return layers.differences(case, blanked, before)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("spec", [LAYER, FLAT, NHD], ids=spec_name)
@pytest.mark.parametrize("place", ["after", "before", "far"])
def test_slot_out_of_range_traps_sx5(compiler, spec, fuse, place):
    """The call fails, and no byte outside the rows of valid slots changes."""
    total = total_slots(spec)
    bad = {"after": total, "before": -total - 1, "far": 2**31 - 1}[place]
    case = layers.layer_case(spec, "padded", PAGES, [1, bad, 5], seed=3)
    arrays = case.make()
    library = load(compiler, spec, f"--fuse={fuse}")
    with pytest.raises(abi.KernelError, match="SX5"):
        library.call("main", *layers.view_tensors(case, arrays))
    assert not outside_written_rows(spec, case, arrays)


@pytest.mark.parametrize("fuse", FUSE)
def test_slot_beyond_32_bits_traps_sx5(compiler, fuse):
    """A 64-bit slot is not narrowed before its bounds are tested."""
    spec = models.LayerSpec()
    case = layers.layer_case(spec, "padded", PAGES, [1, 2**40 + 17, 5], seed=4)
    arrays = case.make()
    library = load(compiler, spec, f"--fuse={fuse}")
    with pytest.raises(abi.KernelError, match="SX5"):
        library.call("main", *layers.view_tensors(case, arrays))
    assert not outside_written_rows(spec, case, arrays)


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("spec", [LAYER, FLAT, NHD], ids=spec_name)
def test_duplicate_slots_sx7(compiler, spec, fuse):
    """Each element of a slot named twice comes from one of its tokens."""
    slots = [3, 7, 3, 3, 9, 7, total_slots(spec) - 1, -1]
    case = layers.layer_case(spec, "padded", PAGES, slots, seed=5)
    arrays = run(load(compiler, spec, f"--fuse={fuse}"), case)
    assert not outside_written_rows(spec, case, arrays)

    tensors = layers.view_tensors(case, arrays)
    count = len(spec.order)
    for cache, rows in zip(tensors[:count], tensors[count : 2 * count], strict=True):
        for slot in set(slots):
            same = [
                t for t, s in enumerate(slots) if (s - slot) % total_slots(spec) == 0
            ]
            index = oracle.row_index(spec, tuple(cache.shape), slot, oracle.Policy())
            candidates = rows[same].to(cache.dtype)
            assert element_of(cache[index], candidates), f"slot {slot}"


def element_of(stored: torch.Tensor, candidates: torch.Tensor) -> bool:
    """Is each element of `stored` [H, D] one of `candidates` [N, H, D]?"""
    as_float, options = stored.float(), candidates.float()
    same = (options == as_float) | (options.isnan() & as_float.isnan())
    return bool(same.any(dim=0).all())


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("spec", [LAYER, FLAT, NHD], ids=spec_name)
def test_policies_sx4_sx5_sx6(compiler, spec, policy, fuse):
    options, meaning = POLICIES[policy]
    slots = policy_slots(spec)
    library = load(compiler, spec, f"--fuse={fuse}", *options)
    for storage in layers.STORAGES:
        case = layers.layer_case(spec, storage, PAGES, slots, seed=6)
        expected = oracle.write_layer(spec, case, meaning)
        wrong = layers.differences(case, run(library, case), expected)
        assert not wrong, f"{storage}: {wrong}"


@pytest.mark.parametrize("fuse", FUSE)
def test_negative_skip_still_traps_above(compiler, fuse):
    """Padding is left out, and a slot behind the cache still fails the call."""
    library = load(compiler, LAYER, f"--fuse={fuse}", "--negative=skip")
    padding = layers.layer_case(LAYER, "padded", PAGES, [4, -1, -9], seed=7)
    expected = oracle.write_layer(LAYER, padding, oracle.Policy(negative="skip"))
    assert not layers.differences(padding, run(library, padding), expected)

    slots = [4, -1, total_slots(LAYER)]
    outside = layers.layer_case(LAYER, "padded", PAGES, slots, seed=8)
    with pytest.raises(abi.KernelError, match="SX5"):
        run(library, outside)


@pytest.mark.parametrize("fuse", FUSE)
def test_torch_2_11_does_not_saturate_sc4(compiler, fuse):
    """--torch-version=2.11 gives NaN where 2.13 gives the largest e4m3fn."""
    spec = models.LayerSpec(order="k", values="f32", head_dim=8, heads=1)
    numbers = [448.0, 464.0, 464.1, -1000.0, torch.inf, -torch.inf, torch.nan, 0.1]
    cache = torch.zeros(PAGES, 1, spec.page, 8).to(torch.float8_e4m3fn)
    rows, slots = torch.tensor(numbers).reshape(1, 1, 8), torch.tensor([33])
    library = load(compiler, spec, f"--fuse={fuse}", "--torch-version=2.11")
    library.call("main", cache, rows, slots)
    nan = torch.nan
    expected = torch.tensor([448.0, 448.0, nan, nan, nan, nan, nan, 0.1015625])
    stored = cache[1, 0, 1].float()
    assert torch.equal(stored.isnan(), expected.isnan())
    assert torch.equal(stored.nan_to_num(0.0), expected.nan_to_num(0.0))


DYNAMIC = """
func.func public @main(
    %cache: tensor<?x?x?x?xf8E4M3FN> {bufferization.writable = true},
    %rows: tensor<?x?x?xbf16>, %slots: tensor<?xi64>) -> tensor<?x?x?x?xf8E4M3FN> {
  %0 = kv.write at(%slots : tensor<?xi64>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<?x?x?xbf16> into %cache : tensor<?x?x?x?xf8E4M3FN>
        map(affine_map<(t, s, h, d) -> (s floordiv 16, h, s mod 16, d)>) {
    ^bb0(%e: bf16):
      %c = kv.cast %e saturating : bf16 to f8E4M3FN
      kv.yield %c : f8E4M3FN
    }
  return %0 : tensor<?x?x?x?xf8E4M3FN>
}
"""


@pytest.mark.parametrize("fuse", FUSE)
@pytest.mark.parametrize(
    "rows_shape, slots_count",
    [
        ((5, 4, 16), 5),
        ((5, 4, 4), 5),
        ((5, 3, 8), 5),
        ((5, 5, 8), 5),
        ((5, 4, 8), 4),
        ((5, 4, 8), 6),
        ((1, 4, 8), 5),
    ],
)
def test_row_size_mismatch_sx10(compiler, rows_shape, slots_count, fuse):
    """Rows that do not cover the cache's rows fail the call; nothing is written."""
    path = compiler.compile(DYNAMIC, "--target=cpu", "--emit=shared", f"--fuse={fuse}")
    cache = torch.zeros(4, 4, 16, 8).to(torch.float8_e4m3fn)
    rows = torch.ones(rows_shape, dtype=torch.bfloat16)
    slots = torch.arange(slots_count) * 3
    with pytest.raises(abi.KernelError, match="SX10"):
        abi.Library(path).call("main", cache, rows, slots)
    assert not cache.view(torch.uint8).any()


@pytest.mark.parametrize("fuse", FUSE)
def test_dynamic_row_sizes(compiler, fuse):
    """One compiled function serves every head count and head dimension."""
    path = compiler.compile(DYNAMIC, "--target=cpu", "--emit=shared", f"--fuse={fuse}")
    library = abi.Library(path)
    for heads, head_dim in [(1, 1), (4, 8), (3, 7), (2, 0), (0, 8)]:
        cache = torch.zeros(4, heads, 16, head_dim).to(torch.float8_e4m3fn)
        expected = cache.clone()
        rows = torch.arange(5 * heads * head_dim) - 9.5
        rows = rows.to(torch.bfloat16).reshape(5, heads, head_dim)
        slots = torch.tensor([0, 63, 17, 16, -2])
        expected[slots // 16, :, slots % 16] = rows.to(expected.dtype)
        library.call("main", cache, rows, slots)
        assert torch.equal(cache.view(torch.uint8), expected.view(torch.uint8))


TRUNC = models.LayerSpec(division="trunc")


@pytest.mark.parametrize("fuse", FUSE)
def test_truncated_division_stays_a_chain(compiler, fuse):
    """The chain that may not be fused runs as it was written (SX3)."""
    check_usual_cases(compiler, TRUNC, f"--fuse={fuse}")
