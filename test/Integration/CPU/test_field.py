# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The field's spellings: fused or refused as each should be, and the same bytes.

Every entry of test/Field/torch_writes.py goes through torch.export and torch-mlir,
as it comes from there (raw) and after torch-mlir's simplifications (torch). What
kvfuse leaves of the module is run by torch, and the whole is compared with the
entry itself in torch eager. What of it can be said in kv and arith IR is in
test/Field/kv, transcribed by hand, and compared with the same.
"""

import pytest

from kvfuse_testing import field, field_kv, field_torch, torch_programs

SEEDS = range(3)
#: Entries whose index is computed before the write, as the program says: padding
#: redirected, a division by a number in memory.
REDIRECTED = frozenset(("ND2", "KT2", "G9"))
#: Entries that torch exports for any number of tokens, a part of them.
DYNAMIC = [
    *("T1", "T2", "T8", "T9", "M2", "G1", "G3", "G5", "NV1", "NV3", "V7", "FI1"),
    *("GF1", "H1", "H4"),
]
#: torch-mlir does not simplify operations that it does not know.
FORMS = [
    (name, output_type)
    for name in field.ENTRIES
    for output_type in ("raw", "torch")
    if output_type == "raw" or field.ENTRIES[name].reason != "opaque-op"
]


def check_outcome(entry: field.Entry, compiled: torch_programs.Compiled) -> None:
    """Is it fused, or refused, as the entry says?"""
    assert compiled.launches == entry.launches
    if entry.outcome != "refuse" and entry.name not in REDIRECTED:
        # Nothing of the chain is left: no kernel but the fused ones.
        if entry.name not in field.COPIED:
            assert compiled.kernels == len(compiled.launches)
        assert not torch_programs.arithmetic_left(compiled)
    if entry.reason:
        assert entry.reason in compiled.reasons
    if entry.outcome != "refuse":
        # Readers that kvfuse does not know may stand in a program that fuses.
        assert set(compiled.reasons) <= {entry.reason, "opaque-op"}


@pytest.mark.parametrize(("name", "output_type"), FORMS)
def test_torch(compiler, name, output_type):
    entry = field.ENTRIES[name]
    compiled = field_torch.compile_entry(compiler, name, output_type=output_type)
    check_outcome(entry, compiled)
    if compiled.error:
        # A write to a copy may not be made a write to the cache: the tool stops.
        assert entry.reason == "cache-copied" and "cache-copied" in compiled.error
        return
    for seed in SEEDS:
        assert not field_torch.differences(name, compiled, seed, output_type)


@pytest.mark.parametrize("name", field.ENTRIES)
def test_torch_unfused(compiler, name):
    compiled = field_torch.compile_entry(compiler, name, "off")
    assert compiled.launches == ()
    if compiled.error:
        assert field.ENTRIES[name].reason == "cache-copied"
        assert "cache-copied" in compiled.error
        return
    for seed in SEEDS:
        assert not field_torch.differences(name, compiled, seed)


@pytest.mark.parametrize("name", DYNAMIC)
def test_torch_any_number_of_tokens(compiler, name):
    entry, exported = field.ENTRIES[name], field.export_dynamic(name)
    compiled = torch_programs.compile_exported(compiler, exported)
    check_outcome(entry, compiled)
    for tokens in (field.TOKENS, 2):
        assert not torch_programs.differences(
            compiled,
            exported,
            entry.function,
            field.inputs(entry, 1, tokens),
            set(field.cache_numbers(entry)) & set(exported.mutated),
        )


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("name", field_kv.NAMES)
def test_kv(compiler, name, fuse):
    entry = field.ENTRIES[name]
    compiled = field_kv.compile_entry(compiler, name, fuse)
    if fuse == "on":
        check_outcome(field_kv.expected(entry), compiled)
    else:
        assert compiled.launches == ()
    if compiled.error:
        assert field_kv.expected(entry).reason == "cache-copied"
        assert "cache-copied" in compiled.error
        return
    for seed in SEEDS:
        assert not field_kv.differences(compiled.library, name, seed)
