# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's quick start is ten lines, and runs."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: What the README says of the callable: the same bytes as the function it came from.
CHECK = """
expected = torch.zeros_like(pool)
write(expected[:, 0], expected[:, 1], *inputs[2:])
assert pool.view(torch.uint8).any()
assert torch.equal(pool.view(torch.uint8), expected.view(torch.uint8))
"""


def quick_start() -> str:
    """The Python code of the section "From Python"."""
    section = (ROOT / "README.md").read_text().split("\n## From Python\n")[1]
    return re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]


def test_quick_start_runs(tmp_path):
    script = tmp_path / "quick_start.py"
    script.write_text(quick_start() + CHECK)
    result = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python_bindings")},
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "main, for cpu: 8 launches before, 1 after"
    assert lines[1].endswith("quick_start.py:6:0: 2 caches in one kernel")
    assert lines[2].strip() == "| cache[page, :, offset, :] = rows.to(cache.dtype)"
    assert not result.stderr


def test_quick_start_is_ten_lines():
    assert sum(bool(line.strip()) for line in quick_start().splitlines()) == 10
