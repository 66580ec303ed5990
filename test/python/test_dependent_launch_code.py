# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernels wait for the one in front, and which launches rely on it (SP4)."""

import re

import kvfuse
import pytest
from kvfuse_testing import matrix
from kvfuse_testing.compile import Compiler

MUTATES = "--mutates=0,1,2"
#: The flag of a kernel that the runtime launches dependently.
HANDLE = re.compile(r"@kvfuse_kernel_(\w+) = .*? \{ ptr @\w+, ptr @\w+, i64 (\d), ")
CHIPS = {"sm_80": False, "sm_89": False, "sm_90": True, "sm_100": True, "sm_120": True}


def kernels_of(ptx: str) -> dict[str, str]:
    """Kernel -> its instructions."""
    starts = list(re.finditer(r"\.entry (\w+)\(", ptx))
    ends = [start.start() for start in starts[1:]] + [len(ptx)]
    return {s[1]: ptx[s.end() : end] for s, end in zip(starts, ends, strict=True)}


def blocks_of(code: str) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Label -> instructions, and label -> the blocks that may come next. The first
    block is called "entry", and what comes behind a branch by its number."""
    blocks: dict[str, list[str]] = {"entry": []}
    successors: dict[str, set[str]] = {"entry": set()}
    label, goes_on = "entry", True

    def start(name: str) -> str:
        if goes_on:
            successors[label].add(name)
        blocks[name], successors[name] = [], set()
        return name

    for line in map(str.strip, code.splitlines()):
        if match := re.match(r"(\$\w+):", line):
            label, goes_on = start(match[1]), True
            continue
        blocks[label].append(line)
        if match := re.search(r"\bbra(?:\.uni)?\s+(\$\w+)", line):
            successors[label].add(match[1])
        goes_on = not re.match(r"(bra|ret|trap|exit)\b", line)
        if match or not goes_on:
            label, goes_on = start(f"block {len(blocks)}"), True
    return blocks, successors


def has_waited(lines: list[str], before: bool, check: bool = False) -> bool:
    """Has a thread waited behind these instructions? With `check`, it has in front of
    any that touch memory or end it."""
    for line in lines:
        before |= "griddepcontrol.wait" in line
        if check and re.search(r"\b((ld|st|red|atom)\.(?!param)|ret\b|exit\b)", line):
            assert before, line
    return before


def check_waits(code: str) -> None:
    """On every way through the code a thread waits first."""
    blocks, successors = blocks_of(code)
    # Of blocks that are not reached it is true.
    waited = dict.fromkeys(blocks, True) | {"entry": False}
    worklist = ["entry"]
    while worklist:
        label = worklist.pop()
        after = has_waited(blocks[label], waited[label])
        for successor in successors[label]:
            if waited[successor] and not after:
                waited[successor] = False
                worklist.append(successor)
    for label, lines in blocks.items():
        has_waited(lines, waited[label], check=True)


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("pdl", ["off", "late", "early"])
@pytest.mark.parametrize("chip", CHIPS)
def test_flags_and_waits_go_together(
    compiler: Compiler, chip: str, pdl: str, fuse: str
) -> None:
    options = (f"--target={chip}", f"--pdl={pdl}", f"--fuse={fuse}", MUTATES)
    text = matrix.exported(matrix.LAYER)
    host = compiler.compile(text, "--emit=llvm", *options).read_text()
    ptx = compiler.compile(text, "--emit=ptx", *options).read_text()
    kernels = kernels_of(ptx)
    is_dependent = CHIPS[chip] and pdl != "off"
    assert dict(HANDLE.findall(host)) == dict.fromkeys(
        kernels, "1" if is_dependent else "0"
    )
    for code in kernels.values():
        assert ("griddepcontrol.wait" in code) == is_dependent
        assert ("griddepcontrol.launch_dependents" in code) == is_dependent


@pytest.mark.parametrize("pdl", ["late", "early"])
def test_waits_come_first(compiler: Compiler, pdl: str) -> None:
    """SP1: before any access to memory, and before any exit; SP3: late, every exit
    comes behind the trigger, early, no access comes before it."""
    text = matrix.exported(matrix.LAYER)
    output = compiler.compile(text, "--target=sm_90", f"--pdl={pdl}", MUTATES)
    for code in kernels_of(output.read_text()).values():
        check_waits(code)
        triggers = [m.start() for m in re.finditer("griddepcontrol.launch", code)]
        if pdl == "early":
            assert len(triggers) == 1
            assert triggers[0] < code.index("griddepcontrol.wait")
        else:
            exits = re.findall(r"griddepcontrol\.launch_dependents;\s+ret;", code)
            assert len(exits) == len(triggers) == len(re.findall(r"\bret;", code))


def test_a_way_without_a_wait_is_found(compiler: Compiler) -> None:
    """The check above can fail: one of the waits of a kernel is taken away."""
    text = matrix.exported(matrix.LAYER)
    output = compiler.compile(text, "--target=sm_90", "--pdl=early", MUTATES)
    for code in kernels_of(output.read_text()).values():
        for wait in re.finditer(r"(@%p )?griddepcontrol\.wait;", code):
            with pytest.raises(AssertionError):
                check_waits(code[: wait.start()] + code[wait.end() :])


def test_options_of_the_package() -> None:
    """`kvfuse.compile` hands the mode on, and the compile cache tells modes apart."""
    ptx = {
        pdl: kvfuse.compile(
            matrix.exported(matrix.LAYER), target="sm_90", mutates="auto", pdl=pdl
        ).ptx
        for pdl in ("off", "late", "early")
    }
    waits = {pdl: text.count("griddepcontrol.wait") for pdl, text in ptx.items()}
    assert waits["off"] == 0
    assert waits["late"] == waits["early"] >= ptx["late"].count(".entry")
    assert ptx["late"] != ptx["early"]
