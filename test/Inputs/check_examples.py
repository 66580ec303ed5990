# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the examples in table-generated documentation.

    check_examples.py FILE.td... -- kvfuse-opt [argument...]

Every block ```mlir in a description has to parse. Where a pass's description says
that one block `becomes` the next, the pass has to make it of the first; the
functions may be called @before and @after.
"""

import dataclasses
import difflib
import pathlib
import re
import subprocess
import sys
import textwrap

PASS = re.compile(r'^def \w+\s*:\s*Pass<"([^"]+)"', re.MULTILINE)
BLOCK = re.compile(r"^ *```mlir\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass
class Example:
    """A block, where it stands, and the flag of the pass that it is about."""

    text: str
    place: str
    flag: str | None
    #: What the pass makes of this example.
    becomes: "Example | None" = None


def read_examples(path: pathlib.Path) -> list[Example]:
    """All examples of a table-generated file, in order."""
    text = path.read_text()
    passes = [(m.start(), m.group(1)) for m in PASS.finditer(text)]
    examples: list[Example] = []
    end = 0
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        flag = next(
            (flag for start, flag in reversed(passes) if start < match.start()), None
        )
        example = Example(textwrap.dedent(match.group(1)), f"{path}:{line}", flag)
        if examples and text[end : match.start()].strip() == "becomes":
            examples[-1].becomes = example
        examples.append(example)
        end = match.end()
    return examples


def run(command: list[str], example: Example) -> str:
    """What the tool prints for the example; raises with its message if it fails."""
    done = subprocess.run(
        command, input=example.text, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ValueError(f"{example.place}: {done.stderr}")
    return done.stdout.replace("@before", "@after")


def check(command: list[str], example: Example) -> None:
    """Parses the example and, if it says what it becomes, runs the pass on it."""
    run(command, example)
    if example.becomes is None:
        return
    made = run([*command, f"--pass-pipeline=builtin.module({example.flag})"], example)
    promised = run(command, example.becomes)
    if made != promised:
        raise ValueError(
            "\n".join(
                difflib.unified_diff(
                    promised.splitlines(),
                    made.splitlines(),
                    example.becomes.place,
                    f"what {example.flag} makes of it",
                    lineterm="",
                )
            )
        )


def main() -> int:
    split = sys.argv.index("--")
    files, command = sys.argv[1:split], sys.argv[split + 1 :]
    failed = 0
    for name in files:
        examples = read_examples(pathlib.Path(name))
        if not examples:
            print(f"{name}: expected examples", file=sys.stderr)
            failed += 1
        for example in examples:
            try:
                check(command, example)
            except ValueError as error:
                print(error, file=sys.stderr)
                failed += 1
        print(f"{pathlib.Path(name).name}: {len(examples)} examples")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
