# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a benchmark leaves in benchmarks/results."""

import json
import os
import pathlib
import platform
import sys
import time


def write(path: pathlib.Path, figures: list[dict]) -> None:
    """Writes `figures` to `path`, with the command, the date and the machine."""
    command = [f"benchmarks/{pathlib.Path(sys.argv[0]).name}", *sys.argv[1:]]
    record = {
        "command": " ".join(command),
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, CPU only",
        "figures": figures,
    }
    path.write_text(json.dumps(record, indent=2) + "\n")
