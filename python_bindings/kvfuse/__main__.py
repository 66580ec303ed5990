# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m kvfuse cache [info|clear|path]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from . import __version__
from ._cache import cache_clear, cache_info

#: Bytes of a mebibyte.
_MIB = 1 << 20


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kvfuse", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    cache = commands.add_parser(
        "cache",
        help="the cache of compiled functions on disk",
        description="Shows or clears the cache of compiled functions on disk. Its "
        "folder is KVFUSE_CACHE_DIR, its size in bytes at most KVFUSE_CACHE_SIZE.",
    )
    cache.add_argument(
        "action",
        nargs="?",
        default="info",
        choices=("info", "clear", "path"),
        help="show what is in it (the default), remove all of it, or print its folder",
    )
    return parser


def _show_info() -> None:
    info = cache_info()
    print(f"folder   {info['path'] or '(off)'}")
    print(f"entries  {info['entries']}")
    print(f"size     {info['bytes'] / _MIB:.1f} MiB of {info['limit'] / _MIB:.0f} MiB")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.action == "clear":
            count = cache_clear()
            print(f"removed {count} {'entry' if count == 1 else 'entries'}")
        elif options.action == "path":
            print(cache_info()["path"])
        else:
            _show_info()
    except (OSError, RuntimeError) as error:
        print(f"kvfuse: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
