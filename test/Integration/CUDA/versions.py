# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which of a write's kernels may run on the buffers of a case.

On a machine with a GPU host code does not run here, so that whoever launches a
kernel has to look at the layouts. This looks at all of the kernel's buffers alike,
and so may take a narrower one than the guards would.
"""

from kvfuse_testing.cases import Case, View
from kvfuse_testing.cells import WIDTHS


def access_bytes(branch: str) -> int:
    """The widest access of the version that the report calls `branch`."""
    sizes, _, unit = branch.rpartition(" ")
    return max(map(int, sizes.split("/"))) if unit == "bytes" else 0


def is_aligned(view: View, elements: int) -> bool:
    """Do rows of the view start at multiples of `elements`, without gaps in them?"""
    steps = (view.offset, *view.strides[:-1])
    return view.strides[-1] == 1 and all(step % elements == 0 for step in steps)


def may_run(kernel: dict, case: Case) -> bool:
    """May the kernel run on the views of the case with the numbers that it takes?"""
    size = access_bytes(kernel["branch"])
    if not size:
        return kernel["branch"] == "by element"
    views = [case.views[n] for n in kernel["arguments"] if len(case.views[n].sizes) > 1]
    narrowest = min(WIDTHS[case.buffers[view.buffer].dtype] for view in views)
    return all(is_aligned(view, size // narrowest) for view in views)


def pick(kernels: list[dict], case: Case, tokens: int) -> dict:
    """The kernel for so many tokens of the widest version of a function's only
    write."""
    widest = next(kernel for kernel in kernels if may_run(kernel, case))
    return pick_by_tokens(alternatives(kernels, widest), tokens)


def pick_by_tokens(kernels: list[dict], tokens: int) -> dict:
    """Of the kernels of one version, the one that the host would launch."""
    fitting = [k for k in kernels if k.get("min_tokens", 0) <= tokens]
    return max(fitting, key=lambda kernel: kernel.get("min_tokens", 0))


def alternatives(kernels: list[dict], kernel: dict) -> list[dict]:
    """The kernels of the version that `kernel` is of, for few and for many tokens."""
    keys = ("function", "branch", "arguments")
    return [k for k in kernels if all(k.get(key) == kernel.get(key) for key in keys)]
