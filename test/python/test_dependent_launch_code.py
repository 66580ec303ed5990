# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which kernels wait for the one in front, and which launches rely on it (SP4)."""

import re

import kvfuse
import pytest
from kvfuse_testing import matrix, ptx
from kvfuse_testing.compile import Compiler

MUTATES = "--mutates=0,1,2"
WAIT, TRIGGER = "griddepcontrol.wait", "griddepcontrol.launch_dependents"
#: Accesses to memory, but for those to a kernel's parameters.
ACCESS = r"(ld|st|red|atom)\.(?!param).*"
#: The flag of a kernel that the runtime launches dependently.
HANDLE = re.compile(r"@kvfuse_kernel_(\w+) = .*? \{ ptr @\w+, ptr @\w+, i64 (\d), ")
CHIPS = {"sm_80": False, "sm_89": False, "sm_90": True, "sm_100": True, "sm_120": True}


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("pdl", ["off", "late", "early"])
@pytest.mark.parametrize("chip", CHIPS)
def test_flags_and_waits_go_together(
    compiler: Compiler, chip: str, pdl: str, fuse: str
) -> None:
    options = (f"--target={chip}", f"--pdl={pdl}", f"--fuse={fuse}", MUTATES)
    text = matrix.exported(matrix.LAYER)
    host = compiler.compile(text, "--emit=llvm", *options).read_text()
    output = compiler.compile(text, "--emit=ptx", *options)
    kernels = ptx.kernels(output.read_text())
    is_dependent = CHIPS[chip] and pdl != "off"
    flags = {name: flag == "1" for name, flag in HANDLE.findall(host)}
    assert set(flags) == set(kernels)
    for name, kernel in kernels.items():
        assert not flags[name] or kernel.find(WAIT)
        assert is_dependent or not kernel.find(f"{WAIT}|{TRIGGER}")
    # All of them, but maybe for those of long steps.
    for kernel in compiler.launches(output):
        assert flags[kernel["name"]] == is_dependent


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("pdl", ["late", "early"])
def test_waits_come_first(compiler: Compiler, pdl: str, fuse: str) -> None:
    """SP1: on every way, before any access to memory and before the end. SP3: late,
    nothing is stored behind the trigger, which every way ends with; early, every way
    begins with it."""
    text = matrix.exported(matrix.LAYER)
    options = (f"--pdl={pdl}", f"--fuse={fuse}", MUTATES)
    output = compiler.compile(text, "--target=sm_90", *options)
    for kernel in ptx.kernels(output.read_text()).values():
        accesses, ends = kernel.find(ACCESS), kernel.find("ret")
        assert accesses and ends
        assert not {*accesses, *ends} & {*kernel.reach(0, WAIT)}
        triggers = kernel.find(TRIGGER)
        before = {*kernel.reach(0, TRIGGER)}
        if pdl == "early":
            assert not {*kernel.find(WAIT), *accesses, *ends} & before
        else:
            assert not {*ends} & before
            for trigger in triggers:
                assert not {*accesses} & {*kernel.reach(trigger, "ret")}


def test_options_of_the_package() -> None:
    """`kvfuse.compile` hands the mode on, and the compile cache tells modes apart."""
    text = matrix.exported(matrix.LAYER)
    code = {
        pdl: kvfuse.compile(text, target="sm_90", mutates="auto", pdl=pdl).ptx
        for pdl in ("off", "late", "early")
    }
    assert WAIT not in code["off"]
    assert WAIT in code["late"]
    assert WAIT in code["early"]
    assert code["late"] != code["early"]
    assert kvfuse.compile(text, target="sm_90", mutates="auto").ptx == code["late"]
