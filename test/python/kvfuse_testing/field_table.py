# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints docs/field.md: what the tests of spellings and faults expect.

Its tables are made from what the tests themselves check, so that they cannot say
anything else: the entries of test/Field, and the calls in test_cases*.py.
"""

import ast
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(TESTS / "Field")]

from kvfuse_testing import field, field_kv  # noqa: E402
from torch_writes import ENTRIES, Entry  # noqa: E402

INTRODUCTION = """\
<!-- Made by test/python/kvfuse_testing/field_table.py; don't edit. -->

# How real code writes caches

Engines, exporters and model libraries write their caches in many ways. The first
table has {total} spellings, `test/Field/torch_writes.py`, each with what kvfuse makes
of it. Each is run, and leaves the bytes of torch eager:

- through the Torch door, exported by torch.export and imported by torch-mlir, as it
  comes from there and after torch-mlir's own simplifications, fused and unfused;
- in kv and arith IR, transcribed by hand (`test/Field/kv`), fused and unfused, where
  there is a write that IR can say.

The second table has contexts: faults that engines and compilers had, as programs.
[refusals.md](refusals.md) explains the reasons.

## Recall

| | spellings | through the Torch door | in kv and arith IR |
|---|---|---|---|
{recall}
"""

SPELLINGS = """
## Spellings

*Normalised*: fused after the indices were brought into another form (an iota became a
row coordinate, a byte address a row). The class names the kind of write, as the
entries' file lists them. A fused kernel holds the whole chain; where it says *copies
small tensors first*, rows or slots are made dense in front of it, for they are seen in
another shape and their strides are known at run time only.

| entry | class | spelling | in kv and arith IR | through the Torch door | reason |
|---|---|---|---|---|---|
"""

CONTEXTS = """
## Contexts

A row is a test of `test/Integration/CPU/test_cases*.py`; the number is that of the
fault. *Traps*: the call fails, and no byte outside valid rows is written. *Stops*:
`kvfuse-compile` ends with an error that names the reason.

| test | what it shows | outcome |
|---|---|---|
"""


def plural(count: int, noun: str) -> str:
    """`1 cache`, `2 caches`."""
    return f"{count} {noun}" + ("s" if count != 1 else "")


def fused_text(entry: Entry) -> str:
    """How many kernels write how many caches."""
    kernels = plural(len(entry.launches), "kernel")
    return f"{plural(sum(entry.launches), 'write')}, {kernels}"


def outcome_text(entry: Entry) -> str:
    """What is expected of one entry."""
    if entry.outcome == "refuse":
        return "refused"
    word = "fused" if entry.outcome == "fuse" else "normalised"
    return f"{word}: {fused_text(entry)}"


def reason_link(reason: str) -> str:
    """A reason as a link into refusals.md."""
    return f"[`{reason}`](refusals.md#{reason})" if reason else ""


def spelling_rows() -> list[str]:
    """The rows of the table of spellings."""
    rows = []
    for name, entry in ENTRIES.items():
        in_ir = field_kv.expected(entry)
        ir_text = outcome_text(in_ir) if name in field_kv.NAMES else ""
        reasons = [reason_link(entry.reason)] if entry.reason else []
        if name in field_kv.NAMES and in_ir.reason not in ("", entry.reason):
            reasons.append(f"in IR {reason_link(in_ir.reason)}")
        if name in field.COPIED:
            reasons.append("copies small tensors first")
        kind = entry.function.__doc__.split(":")[0]
        summary = entry.summary.rstrip(".")
        cells = [name, kind, summary, ir_text, outcome_text(entry), ", ".join(reasons)]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def recall_rows() -> list[str]:
    """How many entries of each kind fuse."""
    rows = []
    for outcomes, kind in (
        (("fuse", "normalise"), "marked fuse or normalise"),
        (("refuse",), "marked refuse"),
    ):
        names = [name for name, each in ENTRIES.items() if each.outcome in outcomes]
        in_ir = [name for name in names if name in field_kv.NAMES]
        fuse = outcomes != ("refuse",)
        cells = [f"{len(names) if fuse else 'none'} fuse" + ("" if fuse else "s")]
        cells.append(f"{len(in_ir)} fuse" if fuse else f"none of {len(in_ir)} fuses")
        rows.append(f"| {kind} | {len(names)} | {cells[0]} | {cells[1]} |")
    return rows


def literal(node: ast.expr) -> object:
    """The value of a literal, or None."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def check_outcome(call: ast.Call) -> str:
    """What a call of `check` expects."""
    launches = literal(call.args[3])
    keywords = {each.arg: literal(each.value) for each in call.keywords}
    reasons = ", ".join(map(reason_link, keywords.get("reasons") or ()))
    if launches == ():
        return f"refused: {reasons}"
    if launches is None:
        return "fused"
    text = f"{plural(sum(launches), 'write')}, {plural(len(launches), 'kernel')}"
    return f"fused: {text}" + (f"; {reasons}" if reasons else "")


def call_outcome(call: ast.Call) -> str | None:
    """What one call in a test expects, None if it is no check."""
    if not isinstance(call.func, ast.Name):
        return None
    match call.func.id:
        case "check":
            return check_outcome(call)
        case "check_layout":
            return "fused, at the width that the layout has"
        case "check_traps":
            return "traps"
        case "check_refused":
            return f"stops: {reason_link(literal(call.args[3]))}"
        case "check_bytes":
            reasons = ", ".join(map(reason_link, literal(call.args[3])))
            return f"the same bytes, or stops: {reasons}"
    return None


def test_row(function: ast.FunctionDef) -> str:
    """One test as a row of the table of contexts."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    outcomes = dict.fromkeys(filter(None, map(call_outcome, calls)))
    named = function.name.split("_", 2)[2].replace("_", " ")
    shown = re.sub(r"\s+", " ", ast.get_docstring(function) or named).rstrip(".")
    name = function.name.removeprefix("test_")
    return f"| `{name}` | {shown} | {'; '.join(outcomes) or 'as said'} |"


def case_rows() -> list[str]:
    """The rows of the table of contexts, in the order of the cases' numbers."""
    functions = [
        node
        for path in sorted((TESTS / "Integration" / "CPU").glob("test_cases*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]

    def number(function: ast.FunctionDef) -> tuple[str, int]:
        letter, digits = re.match(r"test_([A-P])(\d+)", function.name).groups()
        return letter, int(digits)

    return [test_row(function) for function in sorted(functions, key=number)]


def page() -> str:
    """The whole page."""
    recall = "\n".join(recall_rows())
    return "".join(
        [
            INTRODUCTION.format(total=len(ENTRIES), recall=recall),
            SPELLINGS + "\n".join(spelling_rows()) + "\n",
            CONTEXTS + "\n".join(case_rows()) + "\n",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(page())
