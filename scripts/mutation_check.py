#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do the tests notice when a rule of fusion is broken?

Each scripts/mutations/*.patch breaks one rule. The script copies the sources to
build/mutations, applies one patch after the other, builds, and runs generated
programs, which must fail. Where the patch says "Caught by: lit", since the bytes
on a CPU may be right by chance, the lit tests must, and where it names a file of
pytest, that must. The script fails if a patch does not apply or build, or if the
tests fail without a patch.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutations"
PATCHES = ROOT / "scripts" / "mutations"
#: Runs tests until one fails.
PYTEST = [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider"]
#: Generated programs.
PROGRAMS = "test/Integration/CPU/test_differential.py"


@dataclasses.dataclass(frozen=True)
class Mutation:
    """A patch, and what it says about itself."""

    path: pathlib.Path
    #: What has to notice: lit, programs, or a file of pytest.
    caught_by: str

    @classmethod
    def read(cls, path: pathlib.Path) -> "Mutation":
        """The mutation of a patch."""
        said = re.search(r"^Caught by: (.+)$", path.read_text(), re.MULTILINE)
        return cls(path, said.group(1) if said else "programs")


def run(*command: str, **options: object) -> subprocess.CompletedProcess:
    """Runs a command in the copy; its output is kept."""
    environment = os.environ | {
        "CCACHE_BASEDIR": str(COPY),
        "CCACHE_SLOPPINESS": "pch_defines,time_macros",
        "KVFUSE_BIN_DIR": str(COPY / "build" / "bin"),
    }
    return subprocess.run(
        command,
        cwd=COPY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )


def must(*command: str, **options: object) -> None:
    """Runs a command that has to succeed."""
    done = run(*command, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")


def copy_sources() -> None:
    """Makes the copy the same as the sources, but for its build folder; equal
    files keep their times, so that only what differs is built again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = {name for name in listed.split("\0") if (ROOT / name).is_file()}
    for path in COPY.rglob("*"):
        name = path.relative_to(COPY)
        if path.is_file() and name.parts[0] != "build" and str(name) not in names:
            path.unlink()
    for name in names:
        source, target = ROOT / name, COPY / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def configure() -> None:
    """Runs CMake in the copy, with the Python environment of the sources."""
    launcher = shutil.which("ccache") or ""
    lit = pathlib.Path(sys.executable).with_name("lit")
    must(
        "cmake",
        "--preset=default",
        f"-DPython3_EXECUTABLE={sys.executable}",
        f"-DLLVM_EXTERNAL_LIT={lit}",
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
    )


def build() -> None:
    """Builds the tools that the tests run."""
    targets = ("kvfuse-compile", "kvfuse-opt", "kvfuse_runtime")
    must("cmake", "--build", "build", "--target", *targets)


def lit_fails() -> bool:
    """Does a lit test of fusion or of layouts fail?"""
    lit = pathlib.Path(sys.executable).with_name("lit")
    done = run(str(lit), "-s", "build/test", "--filter=(Fusion|Layout)/")
    if "fatal:" in done.stdout:
        sys.exit(done.stdout)
    return bool(done.returncode)


def programs_fail(*selected: str) -> bool:
    """Is a generated program wrong, in one of the tests named? They run in this
    order, up to the first fault."""
    return any(run(*PYTEST, PROGRAMS, "-k", name).returncode for name in selected)


def check(mutation: Mutation) -> bool:
    """Do the tests fail with the patch? Says which do."""
    patch = mutation.path.read_text()
    must("patch", "-p1", "--forward", "--no-backup-if-mismatch", "-s", input=patch)
    try:
        build()
        caught = {"lit": lit_fails()}
        if mutation.caught_by == "programs":
            caught["programs"] = programs_fail("refused", "programs")
        elif mutation.caught_by != "lit":
            done = run(*PYTEST, mutation.caught_by)
            caught[mutation.caught_by] = bool(done.returncode)
    finally:
        must("patch", "-p1", "--reverse", "--no-backup-if-mismatch", "-s", input=patch)
    by = [name for name, found in caught.items() if found]
    enough = caught[mutation.caught_by]
    verdict = "caught" if enough else "MISSED"
    print(f"{mutation.path.stem}: {verdict}, by {' and '.join(by) or 'none'}")
    return enough


def main() -> int:
    """Checks all patches, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="patches, without .patch")
    names = parser.parse_args().names
    paths = sorted(PATCHES.glob("*.patch"))
    unknown = set(names) - {path.stem for path in paths}
    if unknown or not paths:
        sys.exit(f"no such mutation: {' '.join(sorted(unknown))}")
    chosen = [path for path in paths if not names or path.stem in names]

    copy_sources()
    configure()
    build()
    if programs_fail("refused", "programs and 475") or lit_fails():
        sys.exit("the tests fail without a mutation")
    results = [check(Mutation.read(path)) for path in chosen]
    print(f"{sum(results)} of {len(results)} mutations caught")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
