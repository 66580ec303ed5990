# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for every GPU: the instructions that it has, and no others."""

import functools
import re
import subprocess

import pytest

from kvfuse_testing import casts
from kvfuse_testing.compile import find_ptxas

CHIPS = (
    *("sm_80", "sm_89", "sm_90", "sm_90a"),
    *("sm_100", "sm_100f", "sm_103", "sm_120"),
)
#: Modes of dependent launch by chip: all on sm_90, where it begins.
MODES = {chip: ("early",) for chip in CHIPS} | {"sm_90": ("off", "late", "early")}

#: What K and V of a layer go through, and whether they are scaled first.
LAYERS = [
    (casts.Cast("bf16", "bf16"), False),
    (casts.Cast("f32", "bf16"), True),
    (casts.Cast("bf16", "e4m3fn", saturating=True), False),
    (casts.Cast("f16", "e4m3fn", saturating=True), True),
    (casts.Cast("f32", "e4m3fn", saturating=False), False),
    (casts.Cast("bf16", "e5m2"), True),
    (casts.Cast("f32", "e5m2"), False),
]


def region(cast: casts.Cast, scaled: bool) -> str:
    """The region of a put: an element, times %scale in f32 if asked for, cast."""
    source, result = casts.MLIR_TYPES[cast.source], casts.MLIR_TYPES[cast.result]
    mode = " saturating" if cast.saturating else ""
    value, lines = "%x", []
    if scaled and source != "f32":
        lines.append(f"%wide = arith.extf %x : {source} to f32")
        value = "%wide"
    if scaled:
        lines.append(f"%scaled = arith.mulf {value}, %scale : f32")
        value, source = "%scaled", "f32"
    if source != result:
        lines.append(f"%y = kv.cast {value}{mode} : {source} to {result}")
        value = "%y"
    if not lines:
        return ""
    body = "\n      ".join([*lines, f"kv.yield {value} : {result}"])
    return f""" {{
    ^bb0(%x: {casts.MLIR_TYPES[cast.source]}):
      {body}
    }}"""


def layer_text(name: str, cast: casts.Cast, scaled: bool) -> str:
    """A function that writes K and V, cast, and index keys of bf16 as they are."""
    source, result = casts.MLIR_TYPES[cast.source], casts.MLIR_TYPES[cast.result]
    dtypes = {"k": (source, result), "v": (source, result), "i": ("bf16", "bf16")}
    heads = {"k": 4, "v": 4, "i": 1}
    rows = {d: f"tensor<?x{heads[d]}x128x{dtypes[d][0]}>" for d in "kvi"}
    caches = {d: f"tensor<?x{heads[d]}x32x128x{dtypes[d][1]}>" for d in "kvi"}
    parameters = ", ".join(
        f"%{d}: {caches[d]} {{bufferization.writable = true}}, %{d}_rows: {rows[d]}"
        for d in "kvi"
    )
    writes = "\n".join(
        f"""  %{d}_new = kv.write at(%slots : tensor<?xi32>) negative(wrap)
    out_of_bounds(trap) put %{d}_rows : {rows[d]} into %{d} : {caches[d]}
    map(affine_map<(t, s, h, d) -> (s floordiv 32, h, s mod 32, d)>)"""
        + (region(cast, scaled) if d != "i" else "")
        for d in "kvi"
    )
    results = ", ".join(caches.values())
    return f"""
func.func @{name}({parameters}, %slots: tensor<?xi32>, %scale: f32) -> ({results}) {{
{writes}
  return %k_new, %v_new, %i_new : {results}
}}
"""


@functools.cache
def known_chips() -> frozenset[str]:
    """The chips that this ptxas knows."""
    command = [find_ptxas(), "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return frozenset(re.findall(r"'(sm_\w+)'", text))


def assemble(ptx: str, chip: str, folder) -> list[str]:
    """What ptxas says of the memory of each kernel."""
    if chip not in known_chips():
        pytest.skip(f"this ptxas does not know {chip}")
    (folder / "kernels.ptx").write_text(ptx)
    command = [
        find_ptxas(),
        "-v",
        f"-arch={chip}",
        "kernels.ptx",
        "-o",
        "kernels.cubin",
    ]
    made = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return re.findall(r"\d+ bytes stack frame.*", made.stderr)


def bodies(ptx: str) -> dict[str, str]:
    """The text of each kernel by its name."""
    return dict(
        re.findall(r"^\.visible \.entry (\w+)(.*?^})", ptx, re.MULTILINE | re.DOTALL)
    )


@pytest.mark.parametrize(
    "chip, mode", [(chip, mode) for chip in CHIPS for mode in MODES[chip]]
)
def test_kernels(compiler, tmp_path, chip, mode):
    text = "".join(
        layer_text(f"layer{n}", cast, scaled) for n, (cast, scaled) in enumerate(LAYERS)
    )
    path = compiler.compile(text, f"--target={chip}", f"--pdl={mode}")
    ptx = path.read_text()
    assert re.search(r"^\.target (\w+)$", ptx, re.MULTILINE)[1] == chip
    # Nothing has to be linked to the kernels: ptxas knows this one.
    assert re.findall(r"^\.extern .*", ptx, re.MULTILINE) == [
        ".extern .func __assertfail"
    ]

    capability = int(re.search(r"\d+", chip)[0])
    is_dependent = capability >= 90 and mode != "off"
    kernels = compiler.kernels(path)
    texts = bodies(ptx)
    assert texts.keys() == {kernel["name"] for kernel in kernels}
    for kernel in kernels:
        body = texts[kernel["name"]]
        cast, _ = LAYERS[int(kernel["function"].removeprefix("layer"))]
        for result, name in (("e4m3fn", "e4m3"), ("e5m2", "e5m2")):
            has = capability >= 89 and cast.result == result
            assert (f"cvt.rn.satfinite.{name}x2.f32" in body) == has
        assert ("griddepcontrol.wait" in body) == is_dependent
        assert ("griddepcontrol.launch_dependents" in body) == is_dependent

    memory = assemble(ptx, chip, tmp_path)
    nothing = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
    assert memory == [nothing] * len(kernels)
