# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a benchmark leaves in benchmarks/results."""

import json
import os
import pathlib
import platform
import sys
import time


def accelerator(device: str) -> str:
    """What `device`, "cpu" or "cuda", is called."""
    if device == "cpu":
        return "CPU only"
    import torch

    versions = f"torch {torch.__version__}, CUDA {torch.version.cuda}"
    return f"{torch.cuda.get_device_name(device)}, {versions}"


def write(
    path: pathlib.Path, figures: list[dict], device: str = "cpu", **versions: str
) -> None:
    """Writes `figures` to `path`, with the command, the date, the machine, and the
    versions of what else took part."""
    command = [f"benchmarks/{pathlib.Path(sys.argv[0]).name}", *sys.argv[1:]]
    record = {
        "command": " ".join(command),
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {accelerator(device)}",
        **versions,
        "figures": figures,
    }
    path.write_text(json.dumps(record, indent=2) + "\n")
