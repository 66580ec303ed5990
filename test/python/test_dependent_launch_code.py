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


def first_memory_access(code: str) -> int:
    """Where the code first reads or writes global memory."""
    match = re.search(r"\b(ld|st|red|atom)\.(?!param)", code)
    assert match
    return match.start()


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
        assert code.count("griddepcontrol.wait") == is_dependent
        assert ("griddepcontrol.launch_dependents" in code) == is_dependent


@pytest.mark.parametrize("pdl", ["late", "early"])
def test_waits_come_first(compiler: Compiler, pdl: str) -> None:
    """SP1: before any access to memory, and before any branch to an exit; SP3: late,
    every exit comes behind the trigger, early, no access comes before it."""
    text = matrix.exported(matrix.LAYER)
    output = compiler.compile(text, "--target=sm_90", f"--pdl={pdl}", MUTATES)
    for code in kernels_of(output.read_text()).values():
        wait = code.index("griddepcontrol.wait")
        assert wait < first_memory_access(code)
        assert not re.search(r"\bbra\b|\bret\b", code[:wait])
        triggers = [m.start() for m in re.finditer("griddepcontrol.launch", code)]
        if pdl == "early":
            assert len(triggers) == 1
            assert triggers[0] < wait
        else:
            exits = [m.start() for m in re.finditer(r"\bret;", code)]
            assert len(triggers) == len(exits)
            stores = [m.end() for m in re.finditer(r"\bst\.global", code)]
            assert max(stores) < max(triggers) < max(exits)


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
    assert waits["late"] == waits["early"] == ptx["late"].count(".entry")
    assert ptx["late"] != ptx["early"]
