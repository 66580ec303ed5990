# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the built libraries into the wheel.

The libraries come from ../build/lib, or from the folder KVFUSE_LIB_DIR. They are
reached through TVM-FFI, and the extension module keeps to Python's stable interface,
so one wheel is for Python 3.10 and all later ones on its platform.
"""

import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.errors import SetupError

LIBRARIES = ("libkvfuse.so", "libkvfuse_runtime.so", "_tensor_call.abi3.so")
HERE = pathlib.Path(__file__).resolve().parent


def library_folder() -> pathlib.Path:
    """The folder that holds the libraries; an error that says what to do."""
    folder = pathlib.Path(os.environ.get("KVFUSE_LIB_DIR", HERE.parent / "build/lib"))
    missing = [name for name in LIBRARIES if not (folder / name).is_file()]
    if missing:
        raise SetupError(
            f"{', '.join(missing)} not found in {folder}: run `make build` first, or "
            "set KVFUSE_LIB_DIR to the folder that holds them"
        )
    return folder.resolve()


class BuildWithLibraries(build_py):
    """Copies the libraries beside the modules."""

    def run(self) -> None:
        built = pathlib.Path(self.build_lib, "kvfuse")
        shutil.rmtree(built, ignore_errors=True)  # Modules that are gone by now.
        super().run()
        if self.editable_mode:
            return  # A checkout finds its libraries in build/lib.
        folder = library_folder()
        for name in LIBRARIES:
            shutil.copy2(folder / name, built / name)


class PlatformWheel(bdist_wheel):
    """Tags the wheel cp310-abi3-PLATFORM."""

    def get_tag(self) -> tuple[str, str, str]:
        return "cp310", "abi3", super().get_tag()[2]


class BinaryDistribution(Distribution):
    """A distribution with binaries: it is installed among the platform's files."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithLibraries, "bdist_wheel": PlatformWheel},
)
