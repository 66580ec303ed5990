# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layout matrix of the GPU bundle, as far as a machine without a GPU can see."""

import re
import sys

import pytest

from kvfuse_testing import cases
from kvfuse_testing.compile import ROOT
from kvfuse_testing.layouts import covering, model, oracle

sys.path.insert(0, str(ROOT / "test" / "Integration" / "CUDA"))

import bundle_layouts
import launcher
import make_bundle
import run_bundle

SAMPLE = bundle_layouts.sample()
#: Cells of a layout that are compiled here.
COMPILED = 12


@pytest.fixture(scope="module")
def bundle(compiler, tmp_path_factory):
    """A bundle of some cells of each layout."""
    made = make_bundle.Bundle(tmp_path_factory.mktemp("bundle"), compiler)
    for layout in model.LAYOUTS:
        cells = [cell for cell in SAMPLE if cell.layout == layout]
        bundle_layouts.add_layout(made, layout, cells[:COMPILED])
    return made


def test_sample():
    """Every two values of two axes meet, and more than that where promised."""
    points = [
        (c.layout, c.types, c.head_dim, c.page, c.heads, c.offset) for c in SAMPLE
    ]
    groups = [(0, 1, 2, 4, 5), *covering.pairs(model.AXES)]
    covered = set().union(*(covering.tuples_of(point, groups) for point in points))
    assert covered == covering.all_tuples(model.AXES, groups)


def test_slots_are_different():
    """What is written does not depend on the order of the tokens."""
    for cell in SAMPLE[::7]:
        call = bundle_layouts.Storage(cell).call()
        slots = oracle.read_slots(cell, call, call.case.make())
        cache = call.caches[0]
        rows = [oracle.row_index(cell, cache.sizes, slot) for slot in slots]
        written = [str(row) for row in rows if row is not None]
        assert len(written) == len(set(written)) >= 5


def entry_parameters(ptx: str) -> dict[str, int]:
    """Kernel -> how many parameters it has."""
    entries = re.findall(r"\.entry (\w+)\(([^)]*)\)", ptx)
    return {name: parameters.count(".param") for name, parameters in entries}


def test_launches(bundle):
    """Each launch gives its kernel as many parameters as it takes."""
    for entry in bundle.cases:
        case = run_bundle.read_case(entry)
        taken = entry_parameters((bundle.folder / entry["image"]).read_text())
        (launch,) = entry["launches"]
        assert taken[launch["kernel"]] == sum(
            len(parameters(case.views[number])) for number in launch["arguments"]
        )


def parameters(view: cases.View) -> list:
    """A view as the launcher passes it."""
    return launcher.memref_parameters(0, view.sizes, view.strides)


def test_branches(bundle):
    """Wide and narrow kernels are among those that are launched."""
    launched = {launch["branch"] for e in bundle.cases for launch in e["launches"]}
    assert {"16 bytes", "4 bytes", "by element"} <= launched
