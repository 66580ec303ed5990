#!/usr/bin/env python3
# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the compiler on models of many layers.

    benchmarks/compile_layers.py [--layers 60 120 240] [--pool] [--passes] [--runs 5]
                                 [--json FILE]

A model is one function of kv IR: three dense layers (K and V), then sparse ones
(index-K too), fp8 caches, int32 slots, page and offset computed by each write. With
--pool, K and V of all layers are slices of one tensor. Operations that kvfuse does not
know stand for projections and attention, so that no layer's writes can move past the
one before. Times are of whole processes, in seconds; compare the ratios of one run.
With --passes the table goes on with the seconds of each pass on the way to PTX.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import record

ROOT = pathlib.Path(__file__).resolve().parents[1]
DENSE_LAYERS = 3
FUSION = "builtin.module(kv-fuse-chains,kv-group-writes,kv-outline-writes)"

TO_PTX = (
    "builtin.module(kvfuse-to-nvvm{chip=sm_90},"
    "builtin.module(gpu-module-to-binary{format=isa}))"
)
#: A line of --mlir-timing-display=list: wall time last, then a name.
TIMED = re.compile(r"([\d.]+) +\([ \d.]+%\)  (\w+)$", re.MULTILINE)
#: What is timed and is no pass, or holds other passes.
NO_PASS = {"root", "Rest", "Total", "KVFuseOnWrites"}

#: Member -> types of the cache, the rows, and the rows cast to the cache's type.
MEMBERS = {
    "k": ("tensor<?x4x32x128xf8E4M3FN>", "tensor<?x4x128xbf16>"),
    "v": ("tensor<?x4x32x128xf8E4M3FN>", "tensor<?x4x128xbf16>"),
    "i": ("tensor<?x1x32x128xbf16>", "tensor<?x1x128xbf16>"),
}
HIDDEN = "tensor<?x512xbf16>"
PAIR = "affine_map<(t, p, o, h, d) -> (p, h, o, d)>"


def write_lines(member: str, layer: int, cache_value: str) -> list[str]:
    """The chain of one write; the new cache is %<member>new<layer>."""
    cache, rows = MEMBERS[member]
    name = f"{member}{layer}"
    lines = [
        f"%{name}s = arith.extsi %slots : tensor<?xi32> to tensor<?xi64>",
        f"%{name}p = kv.apply affine_map<(s) -> (s floordiv 32)>(%{name}s)"
        " : tensor<?xi64>",
        f"%{name}o = kv.apply affine_map<(s) -> (s mod 32)>(%{name}s) : tensor<?xi64>",
    ]
    value = f"%{name}"
    if "f8" in cache:
        cast = rows.replace("bf16", "f8E4M3FN")
        lines.append(f"%{name}x = kv.cast {value} saturating : {rows} to {cast}")
        value, rows = f"%{name}x", cast
    lines.append(
        f"%{member}new{layer} = kv.write at(%{name}p, %{name}o : tensor<?xi64>,"
        f" tensor<?xi64>) negative(wrap) out_of_bounds(trap) put {value} : {rows}"
        f" into {cache_value} : {cache} map({PAIR})"
    )
    return lines


def pool_lines(layers: int, layer: int, member: str) -> list[str]:
    """The write of one member into its slice of the pool: a slice, a write, and
    the next version of the pool, %pool<2 * layer + 1> for K and + 2 for V."""
    number = 2 * layer + "kv".index(member)
    cache, pool = MEMBERS[member][0], pool_type(layers)
    place = (
        f"[{layer}, {'kv'.index(member)}, 0, 0, 0, 0] [1, 1, %pages, 4, 32, 128]"
        " [1, 1, 1, 1, 1, 1]"
    )
    name = f"{member}{layer}"
    return [
        f"%{name}c = tensor.extract_slice %pool{number}{place} : {pool} to {cache}",
        *write_lines(member, layer, f"%{name}c"),
        f"%pool{number + 1} = tensor.insert_slice %{member}new{layer} into"
        f" %pool{number}{place} : {cache} into {pool}",
    ]


def pool_type(layers: int) -> str:
    """K and V of every layer."""
    return f"tensor<{layers}x2x?x4x32x128xf8E4M3FN>"


def pool_model(layers: int) -> str:
    """The module with all K and V in one pool."""
    pool, index = pool_type(layers), MEMBERS["i"][0]
    slice_ = pool.replace(f"<{layers}x", "<")
    arguments = ["%slots: tensor<?xi32>", f"%h0: {HIDDEN}"]
    arguments.append(f"%pool0: {pool} {{bufferization.writable = true}}")
    results, types = [f"%pool{2 * layers}"], [pool]
    body = ["%c2 = arith.constant 2 : index"]
    body.append(f"%pages = tensor.dim %pool0, %c2 : {pool}")
    rows = ", ".join(MEMBERS[member][1] for member in MEMBERS)
    for layer in range(layers):
        body.append(
            f'%k{layer}, %v{layer}, %i{layer} = "model.project"(%h{layer})'
            f" : ({HIDDEN}) -> ({rows})"
        )
        for member in "kv":
            body += pool_lines(layers, layer, member)
        if layer >= DENSE_LAYERS:
            arguments.append(f"%i{layer}c: {index} {{bufferization.writable = true}}")
            body += write_lines("i", layer, f"%i{layer}c")
            results.append(f"%inew{layer}")
            types.append(index)
        body.append(
            f"%kv{layer} = tensor.extract_slice %pool{2 * layer + 2}[{layer}, 0, 0, 0,"
            f" 0, 0] [1, 2, %pages, 4, 32, 128] [1, 1, 1, 1, 1, 1] : {pool} to {slice_}"
        )
        body.append(
            f'%h{layer + 1} = "model.attention"(%h{layer}, %kv{layer})'
            f" : ({HIDDEN}, {slice_}) -> {HIDDEN}"
        )
    return function(arguments, body, results, types)


def function(arguments: list, body: list, results: list, types: list) -> str:
    """The text of @main."""
    return "\n".join(
        [
            f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{",
            *body,
            f"return {', '.join(results)} : {', '.join(types)}",
            "}",
        ]
    )


def model(layers: int) -> str:
    """The module with a cache for each member of each layer."""
    arguments = ["%slots: tensor<?xi32>", f"%h0: {HIDDEN}"]
    body, results, types = [], [], []
    rows = ", ".join(MEMBERS[member][1] for member in MEMBERS)
    for layer in range(layers):
        members = "kv" if layer < DENSE_LAYERS else "kvi"
        body.append(
            f'%k{layer}, %v{layer}, %i{layer} = "model.project"(%h{layer})'
            f" : ({HIDDEN}) -> ({rows})"
        )
        for member in members:
            cache = MEMBERS[member][0]
            arguments.append(
                f"%{member}{layer}c: {cache} {{bufferization.writable = true}}"
            )
            body += write_lines(member, layer, f"%{member}{layer}c")
            results.append(f"%{member}new{layer}")
            types.append(cache)
        caches = MEMBERS["k"][0], MEMBERS["v"][0]
        body.append(
            f'%h{layer + 1} = "model.attention"(%h{layer}, %knew{layer},'
            f" %vnew{layer}) : ({HIDDEN}, {', '.join(caches)}) -> {HIDDEN}"
        )
    return function(arguments, body, results, types)


def measure(command: list[str], runs: int) -> float:
    """Median seconds of `runs` runs, after one that does not count."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def measure_passes(tools: pathlib.Path, source: pathlib.Path) -> dict[str, float]:
    """Pass, or "Parser" or "Output" -> seconds of one run, all its uses together."""
    command = [tools / "kvfuse-opt", "--allow-unregistered-dialect", source]
    command += [f"--pass-pipeline={TO_PTX}", "-o", os.devnull]
    command += ["--mlir-timing", "--mlir-timing-display=list"]
    timed = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return {
        name: float(seconds)
        for seconds, name in TIMED.findall(timed)
        if name not in NO_PASS
    }


def median_passes(
    tools: pathlib.Path, source: pathlib.Path, runs: int
) -> dict[str, float]:
    """The medians of `runs` runs, longest first."""
    taken = [measure_passes(tools, source) for _ in range(runs)]
    medians = {name: statistics.median(run[name] for run in taken) for name in taken[0]}
    return dict(sorted(medians.items(), key=lambda item: -item[1]))


def show_passes(figures: list[dict]) -> None:
    """Seconds of each pass, a column for each number of layers."""
    layers = "".join(f"{figure['layers']:>9}" for figure in figures)
    print(f"{'pass, seconds':32}{layers}")
    for name in figures[-1]["passes"]:
        seconds = "".join(f"{figure['passes'][name]:9.4f}" for figure in figures)
        print(f"{name:32}{seconds}")


def show_verdict(figures: list[dict]) -> None:
    """The bars: a 60-layer module within a second, time at most linear in layers."""
    seconds = {figure["layers"]: figure["ptx_s"] for figure in figures}
    if 60 in seconds:
        kept = "kept" if seconds[60] <= 1 else "MISSED"
        print(f"60 layers to PTX within 1 s: {seconds[60]:.2f} s, {kept}")
    if len(seconds) > 1:
        few, many = sorted(seconds)[-2:]
        growth, allowed = seconds[many] / seconds[few], many / few
        kept = "kept" if growth <= allowed else "MISSED"
        print(f"{allowed:g} times the layers: {growth:.2f} times the time, {kept}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="+", default=[60, 120, 240])
    parser.add_argument("--pool", action="store_true", help="one pool for all layers")
    parser.add_argument("--passes", action="store_true", help="time each pass too")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there")
    options = parser.parse_args()
    tools = pathlib.Path(os.environ.get("KVFUSE_BIN_DIR", ROOT / "build" / "bin"))

    figures = []
    print(f"{'layers':>7} {'kernels':>8} {'launches':>9} {'fuse, s':>9} {'PTX, s':>9}")
    with tempfile.TemporaryDirectory() as folder:
        source, report = pathlib.Path(folder, "m.mlir"), pathlib.Path(folder, "r.json")
        for layers in options.layers:
            make = pool_model if options.pool else model
            source.write_text(make(layers))
            fuse = [tools / "kvfuse-opt", "--allow-unregistered-dialect", source]
            fuse += [f"--pass-pipeline={FUSION}", "-o", os.devnull]
            ptx = [tools / "kvfuse-compile", source, "-o", os.devnull]
            subprocess.run([*ptx, f"--report={report}"], check=True)
            made = json.loads(report.read_text())
            figure = {
                "layers": layers,
                "kernels": len({kernel["name"] for kernel in made["kernels"]}),
                "launches_unfused": made["functions"][0]["launches_unfused"],
                "launches": made["functions"][0]["launches"],
                "fuse_s": measure(fuse, options.runs),
                "ptx_s": measure(ptx, options.runs),
            }
            if options.passes:
                figure["passes"] = median_passes(tools, source, options.runs)
            figures.append(figure)
            print(
                f"{layers:7} {figure['kernels']:8} {figure['launches']:9}"
                f" {figure['fuse_s']:9.3f} {figure['ptx_s']:9.3f}"
            )
    show_verdict(figures)
    if options.passes:
        show_passes(figures)
    if options.json:
        record.write(options.json, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
