# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every reason that the Torch door gives: its remark, and the bytes it leaves.

Torch runs what is left of each exported program, and must leave what the function
itself leaves in torch eager.
"""

import pytest
import torch

from kvfuse_testing import field, field_torch, torch_programs
from kvfuse_testing.remarks import read_remarks
from kvfuse_testing.torch_interpreter import Interpreter
from torch_mlir import fx
from torch_mlir.passmanager import PassManager
from torch_writes import Entry


def accumulate(kc, s, k):
    """S7: rows are added to the cache."""
    kc.index_put_((s,), k, accumulate=True)


def expanded(kc, s, k):
    """S7, case E5: pages that are one page, repeated."""
    return torch.index_put(kc.expand(6, -1, -1), (s,), k)


def floats_in_bytes(kc, s, sc):
    """S15: float32 scales in columns of a row of bytes."""
    kc.view(torch.float32)[s] = sc


def two_masks(kc, s, m, w, k):
    """S13: slots are filtered by one mask, rows by another."""
    kc[s[m]] = k[w]


def edited_pages(kc, bi, k):
    """S19: pages are gathered, edited and put back."""
    pages = kc[bi]
    pages[:, 1] = k
    kc[bi] = pages


def pairs_in_flat(kc, pg, of, k):
    """S8: a page and an offset in it, of a flat cache that is seen in pages."""
    kc.view(6, 4, 3, 8)[pg, of] = k


def whole_cache(kc, pos, k):
    """S20: old and new rows are chosen between."""
    mask = (torch.arange(kc.shape[0]) == pos).view(-1, 1, 1)
    return torch.where(mask, k.expand_as(kc), kc)


def masked(kc, m, k):
    """S20: the cache is indexed by a mask."""
    kc[m] = k


def one_slice(kc, k):
    """S17: rows go to consecutive positions."""
    kc[2:7] = k


def copy_of_cache(kc, s, k):
    """S8, case D9: a flat copy of a transposed cache is written, and returned."""
    flat = kc.transpose(0, 1).reshape(-1, kc.shape[2])
    flat[s] = k
    return flat


def missed(function, arguments: str, reason: str) -> Entry:
    """An entry that is refused."""
    return Entry(function.__name__, function, arguments, "refuse", (), reason)


ENTRIES = [
    missed(accumulate, "kc f32 B*P H D; s i64 =slots; k f32 T H D", "accumulate"),
    missed(expanded, "kc f32 1 H D; s i64 =[2,0,5]; k f32 3 H D", "overlap"),
    missed(
        floats_in_bytes, "kc u8 B*P 4*D; s i64 =slots; sc f32 T D", "encoding-unknown"
    ),
    missed(
        two_masks,
        "kc f32 B*P H D; s i64 =slots; m b =mask; w b =[True,True,False,False,True]; "
        "k f32 T H D",
        "data-dependent",
    ),
    missed(edited_pages, "kc f32 B P H D; bi i64 =[4,1]; k f32 2 H D", "window-rmw"),
    missed(
        pairs_in_flat,
        "kc f32 B*P H D; pg i64 =page; of i64 =off; k f32 T H D",
        "index-unknown",
    ),
    missed(whole_cache, "kc f32 S H D; pos i64 =[5]; k f32 1 H D", "not-a-scatter"),
    missed(masked, "kc f32 T H D; m b =mask; k f32 3 H D", "mask-index"),
    missed(one_slice, "kc f32 S H D; k f32 T H D", "contiguous"),
    missed(copy_of_cache, "kc f32 S H D; s i64 =slots; k f32 T D", "cache-copied"),
    # Of the field: a Python loop, and an operation that is not known.
    field.ENTRIES["G6"],
    field.ENTRIES["OI1"],
]
ANALYSIS = {
    "contiguous",
    "host-loop",
    "device-loop",
    "opaque-op",
    "mask-index",
    "not-a-scatter",
}


@pytest.fixture(name="entry", params=ENTRIES, ids=lambda entry: entry.reason)
def registered_entry(request, monkeypatch) -> Entry:
    """An entry of this file, known to the field's functions while a test runs."""
    monkeypatch.setitem(field.ENTRIES, request.param.name, request.param)
    return request.param


def remarks_of(compiler, entry: Entry):
    """The text of the export, and kvfuse's remarks on it."""
    exported = field.export(entry.name)
    mutates = ",".join(map(str, exported.mutated))
    options = ("--target=cpu", "--emit=kv", "--remarks", f"--mutates={mutates}")
    result = compiler.run("-", "-o", "/dev/null", *options, text=exported.text)
    assert result.returncode == 0, result.stderr.decode()
    return exported.text.splitlines(), read_remarks(result.stderr.decode())


def test_remark(compiler, entry):
    """One remark with the reason, of its kind, at an operation of the write."""
    lines, remarks = remarks_of(compiler, entry)
    named = [remark for remark in remarks if remark.name == entry.reason]
    assert len(named) == 1
    for remark in named:
        assert remark.kind == ("Analysis" if entry.reason in ANALYSIS else "Missed")
        assert '"torch.' in lines[remark.line - 1]
    others = {remark.name for remark in remarks} - {entry.reason, "opaque-op"}
    assert not others


@pytest.mark.parametrize("fuse", ["on", "off"])
def test_bytes(compiler, entry, fuse):
    compiled = field_torch.compile_entry(compiler, entry.name, fuse)
    assert not compiled.error
    for seed in range(3):
        assert not field_torch.differences(entry.name, compiled, seed)


# A loop of the program. torch-mlir puts its body into a function of its own.


class WhileTokens(torch.nn.Module):
    """Writes one token after the other."""

    def forward(self, kc, s, k):
        def more(i, cache, slots, rows):
            return i < slots.shape[0]

        def write(i, cache, slots, rows):
            at = i.reshape(1)
            slot, row = slots.index_select(0, at), rows.index_select(0, at)
            cache = torch.index_put(cache, (slot,), row)
            return i + 1, cache, slots.clone(), rows.clone()

        loop = torch._higher_order_ops.while_loop
        return loop(more, write, (torch.tensor(0), kc, s, k))[1]


@pytest.mark.filterwarnings("ignore:.*LeafSpec.*:FutureWarning")
def test_device_loop(compiler, tmp_path):
    inputs = (torch.zeros(16, 2, 8), torch.tensor([3, 5, 9]), torch.randn(3, 2, 8))
    program = torch.export.export(WhileTokens(), inputs)
    module = fx.export_and_import(program, output_type="raw")
    inline = PassManager.parse("builtin.module(inline)", module.context)
    inline.run(module.operation)
    text = module.operation.get_asm(print_generic_op_form=True)

    caller = tmp_path / "caller.mlir"
    options = ("--target=cpu", "--emit=kv", "--remarks", "--mutates=0")
    result = compiler.run("-", "-o", str(caller), *options, text=text)
    assert result.returncode == 0, result.stderr.decode()
    (remark,) = read_remarks(result.stderr.decode())
    assert (remark.name, remark.kind) == ("device-loop", "Analysis")
    lines = text.splitlines()
    assert '"torch.aten.index_put"' in lines[remark.line - 1]
    assert '"torch.prim.Loop"' in lines[remark.cause - 1]

    left = torch_programs.generic(compiler, caller.read_text())
    (found,) = Interpreter(left, None).run("main", [*inputs])
    assert torch.equal(found, torch.index_put(inputs[0], (inputs[1],), inputs[2]))
