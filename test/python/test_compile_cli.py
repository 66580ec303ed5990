# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kvfuse-compile as a command: exit codes, messages, outputs and the report."""

import json
import pathlib
import re
import subprocess

import pytest
import torch

import export
import models
from kvfuse_testing import abi, cases, layers
from kvfuse_testing.compile import find_ptxas

LAYER = "hnd_layer_e4m3fn"
TYPES = export.OUTPUT_TYPES

#: Export -> launches of the chain: index cast, divide, remainder and scatter of
#: each write, and the cast of the values where the types differ.
FUSED = {
    "hnd_layer_e4m3fn": 14,
    "hnd_layer_e4m3fn_shared": 8,
    "hnd_layer_e4m3fn_ikv": 11,
    "hnd_layer_e4m3fn_vik": 7,
    "hnd_kv_bf16": 6,
    "hnd_kv_f16_from_f32": 8,
    "hnd_layer_e5m2_from_f16": 12,
    "nhd_layer_e4m3fn": 11,
    "nhd_layer_bf16_from_f32": 15,
    "nhd_kv_e5m2_shared": 6,
    "flat_kv_e4m3fn": 4,
    "hnd_k_page3": 4,
}
TRUNCATED = ("hnd_layer_trunc_division", "nhd_kv_trunc_division")


def export_path(name: str, output_type: str = "raw") -> str:
    """A committed export."""
    return str(export.HERE / f"{name}.{output_type}.mlir")


def report_of(compiler, tmp_path, *arguments: str) -> dict:
    """The report of a run that has to succeed."""
    output = str(tmp_path / "output")
    result = compiler.run(*arguments, "-o", output, "--report=-")
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def failure(compiler, tmp_path, *arguments: str, text: str = "") -> str:
    """Standard error of a run that has to fail and to leave nothing behind."""
    output = tmp_path / "output"
    result = compiler.run(*arguments, "-o", str(output), text=text)
    assert result.returncode == 1
    assert not result.stdout
    assert not list(tmp_path.glob("output*"))
    return result.stderr.decode()


def check_with_ptxas(ptx: pathlib.Path) -> None:
    """Fails with ptxas's message unless it accepts the file for sm_90."""
    cubin = str(ptx.with_suffix(".cubin"))
    command = [find_ptxas(), "-arch=sm_90", str(ptx), "-o", cubin]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


# What it makes.


@pytest.mark.parametrize("output_type", TYPES)
@pytest.mark.parametrize("name", FUSED)
def test_report_counts_launches(compiler, tmp_path, name, output_type):
    report = report_of(
        compiler, tmp_path, export_path(name, output_type), "--mutates=auto"
    )
    (function,) = report["functions"]
    assert function["name"] == "main"
    assert function["launches_unfused"] == FUSED[name]
    assert function["launches"] == 1
    (fused,) = function["fused"]
    assert fused["destinations"] == len(models.COMMITTED[name].order)
    # All versions but the last one have a condition.
    guarded = [guard.split(":")[0] for guard in fused["guards"]]
    versions = [k["branch"] for k in report["kernels"] if "min_tokens" not in k]
    assert guarded == versions[:-1]
    assert function["refused"] == []
    assert len(set(versions)) == len(versions) <= 3
    assert versions[0].endswith(" bytes") and versions[-1] == "by element"
    for kernel in report["kernels"]:
        assert kernel["function"] == "main"
        assert kernel["grid"] == "tokens"
        assert kernel["block_size"] % 32 == 0
        assert kernel["blocks_per_token"] >= 1
        # More tokens of a thread where there are many, of vectors.
        assert kernel["tokens_per_thread"] == (4 if "min_tokens" in kernel else 1)
        assert kernel["branch"] in versions
    assert any("min_tokens" in kernel for kernel in report["kernels"])


@pytest.mark.parametrize("output_type", TYPES)
def test_unfused_report(compiler, tmp_path, output_type):
    source = export_path(LAYER, output_type)
    report = report_of(compiler, tmp_path, source, "--mutates=auto", "--fuse=off")
    (function,) = report["functions"]
    assert function["launches"] == function["launches_unfused"] == FUSED[LAYER]
    assert function["fused"] == []
    assert len(report["kernels"]) >= 4


@pytest.mark.parametrize("output_type", TYPES)
@pytest.mark.parametrize("name", FUSED)
def test_ptx_has_a_kernel_per_version_and_ptxas_takes_it(compiler, tmp_path, name, output_type):
    output, report = tmp_path / "layer.ptx", tmp_path / "report.json"
    result = compiler.run(
        export_path(name, output_type),
        "-o",
        str(output),
        "--target=sm_90",
        "--emit=ptx",
        "--mutates=auto",
        f"--report={report}",
    )
    assert result.returncode == 0, result.stderr.decode()
    kernels = json.loads(report.read_text())["kernels"]
    entries = re.findall(r"\.entry\s+(\w+)", output.read_text())
    assert sorted(entries) == sorted(kernel["name"] for kernel in kernels)
    check_with_ptxas(output)


def test_unfused_ptx_is_accepted_by_ptxas(compiler, tmp_path):
    output = tmp_path / "layer.ptx"
    options = ("--target=sm_90", "--emit=ptx", "--mutates=auto", "--fuse=off")
    result = compiler.run(export_path(LAYER), "-o", str(output), *options)
    assert result.returncode == 0, result.stderr.decode()
    check_with_ptxas(output)


STAGES = {
    "kv": ("--target=sm_90", "kv.write"),
    "gpu": ("--target=sm_90", "gpu.func"),
    "nvvm": ("--target=sm_90", "nvvm."),
    "ptx": ("--target=sm_90", ".visible .entry"),
    "llvm": ("--target=cpu", "_mlir_ciface_main"),
}


@pytest.mark.parametrize("stage", STAGES)
def test_text_goes_to_standard_output(compiler, stage):
    target, expected = STAGES[stage]
    options = (target, f"--emit={stage}", "--mutates=auto", "-o", "-")
    result = compiler.run(export_path(LAYER), *options)
    assert result.returncode == 0
    assert not result.stderr
    assert expected in result.stdout.decode()


def test_input_from_standard_input(compiler):
    options = ("--target=sm_90", "--emit=ptx", "--mutates=auto", "-o", "-")
    text = (export.HERE / f"{LAYER}.raw.mlir").read_text()
    piped = compiler.run("-", *options, text=text)
    named = compiler.run(export_path(LAYER), *options)
    assert piped.returncode == 0
    assert piped.stdout == named.stdout


@pytest.mark.parametrize(
    "target, emit, magic",
    [("sm_90", "cubin", b"\x7fELF"), ("cpu", "shared", b"\x7fELF")],
)
def test_success_is_silent(compiler, tmp_path, target, emit, magic):
    output = tmp_path / "output"
    options = (f"--target={target}", f"--emit={emit}", "--mutates=auto")
    result = compiler.run(export_path(LAYER), "-o", str(output), *options)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    assert output.read_bytes().startswith(magic)
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


def test_equal_runs_give_equal_ptx(compiler):
    options = ("--target=sm_90", "--emit=ptx", "--mutates=auto", "-o", "-")
    first, second = (compiler.run(export_path(LAYER), *options) for _ in range(2))
    assert first.stdout == second.stdout


# What it refuses, and names.


@pytest.mark.parametrize("output_type", TYPES)
@pytest.mark.parametrize("name", TRUNCATED)
def test_truncated_division_is_named(compiler, tmp_path, name, output_type):
    source = export_path(name, output_type)
    report = report_of(compiler, tmp_path, source, "--mutates=auto")
    (function,) = report["functions"]
    reasons = [refusal["reason"] for refusal in function["refused"]]
    assert reasons == ["mixed-division"] * len(models.COMMITTED[name].order)
    assert all(refusal["detail"] for refusal in function["refused"])
    assert function["fused"] == []
    assert function["launches"] == function["launches_unfused"]


@pytest.mark.parametrize("output_type", TYPES)
def test_promised_slots_let_truncated_division_fuse(compiler, tmp_path, output_type):
    """SX3: with no negative slots floor and truncated division are the same."""
    source = export_path(TRUNCATED[0], output_type)
    report = report_of(
        compiler, tmp_path, source, "--mutates=auto", "--negative=undefined"
    )
    (function,) = report["functions"]
    assert (function["launches"], function["refused"]) == (1, [])


@pytest.mark.parametrize("output_type", TYPES)
def test_accumulate_is_left_and_named(compiler, tmp_path, output_type):
    source = export_path("hnd_kv_accumulate", output_type)
    report = tmp_path / "report.json"
    result = compiler.run(
        source, "--emit=kv", "--mutates=auto", "-o", "-", f"--report={report}"
    )
    assert result.returncode == 0, result.stderr.decode()
    text = result.stdout.decode()
    assert text.count("torch.aten.index_put") == 2
    assert "kv.write" not in text
    (function,) = json.loads(report.read_text())["functions"]
    assert [r["reason"] for r in function["refused"]] == ["accumulate"] * 2


@pytest.mark.parametrize("name", [*TRUNCATED, "hnd_kv_accumulate"])
def test_required_fusion_fails(compiler, tmp_path, name):
    options = ("--mutates=auto", "--fuse=required")
    message = failure(compiler, tmp_path, export_path(name), *options)
    reason = "accumulate" if "accumulate" in name else "mixed-division"
    assert reason in message


def test_required_fusion_fails_without_a_candidate(compiler, tmp_path):
    text = "func.func public @main(%x: tensor<4xf32>) { return }"
    assert "error:" in failure(compiler, tmp_path, "-", "--fuse=required", text=text)


def test_required_fusion_succeeds(compiler, tmp_path):
    options = ("--mutates=auto", "--fuse=required")
    report = report_of(compiler, tmp_path, export_path(LAYER), *options)
    assert report["functions"][0]["launches"] == 1


# What the report takes on trust.


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ((), []),
        (("--assume-disjoint",), ["SM8"]),
        (("--assume-aligned",), ["alignment"]),
        (("--negative=undefined",), ["SX4"]),
        (("--negative=skip", "--out-of-bounds=undefined"), ["SX4", "SX5"]),
        (("--reserved-slot=-7",), ["SX6"]),
    ],
)
def test_report_states_assumptions(compiler, tmp_path, options, rules):
    arguments = (export_path(LAYER), "--mutates=auto", *options)
    assumptions = report_of(compiler, tmp_path, *arguments)["assumptions"]
    assert [text.split(":")[0] for text in assumptions] == ["SX3", *rules]
    assert ("slot -7" in assumptions[-1]) == ("SX6" in rules)


# A module with an operation that kvfuse does not know.

BETWEEN = "hnd_layer_silu_between"
UNKNOWN = {"raw": "torch.aten.silu", "torch": "torch.aten.sigmoid"}


@pytest.mark.parametrize("output_type", TYPES)
def test_unknown_operation_stays(compiler, tmp_path, output_type):
    source = export_path(BETWEEN, output_type)
    report = report_of(compiler, tmp_path, source, "--mutates=auto", "--emit=kv")
    text = (tmp_path / "output").read_text()
    assert f'"{UNKNOWN[output_type]}"' in text
    (function,) = report["functions"]
    assert [fused["destinations"] for fused in function["fused"]] == [3]
    assert function["refused"] == []


@pytest.mark.parametrize("fuse", ["on", "off"])
@pytest.mark.parametrize("output_type", TYPES)
def test_outlined_function_is_right(compiler, output_type, fuse):
    """Called with what the unknown operation gives, it leaves eager's bytes."""
    spec = models.COMMITTED[BETWEEN]
    source = (export.HERE / f"{BETWEEN}.{output_type}.mlir").read_text()
    options = ("--target=cpu", "--mutates=auto", f"--fuse={fuse}")
    library = abi.Library(compiler.compile(source, *options, "--emit=shared"))

    slots = cases.distinct_slots(1, 20, 3 * spec.page)
    case = layers.layer_case(spec, "interleaved", 3, slots, seed=1)
    arrays = case.make()
    tensors = layers.view_tensors(case, arrays)
    tensors[4] = torch.nn.functional.silu(tensors[4])
    caches, rows, slots_tensor = tensors[:3], tensors[3:6], tensors[6]
    if fuse == "on":
        library.call("kv_write_0", *tensors)
    else:
        # A function for each write; K and V share one.
        names = ("kv_write_0", "kv_write_0", "kv_write_1")
        for name, cache, row in zip(names, caches, rows, strict=True):
            library.call(name, cache, row, slots_tensor)
    assert not layers.differences(case, arrays, layers.run_eager(spec, case))


# Bad input.


def test_file_that_is_not_there(compiler, tmp_path):
    message = failure(compiler, tmp_path, str(tmp_path / "nowhere.mlir"))
    assert "nowhere.mlir" in message
    assert "error:" in message


@pytest.mark.parametrize(
    "text",
    [
        "this is no module\n",
        "func.func @f(%x: tensor<4xf32>) {\n  return %y\n}\n",
        "\0\1\2",
    ],
)
def test_module_that_does_not_parse(compiler, tmp_path, text):
    source = tmp_path / "broken.mlir"
    source.write_text(text)
    message = failure(compiler, tmp_path, str(source))
    assert re.search(r"broken\.mlir:\d+:\d+: error: ", message)


@pytest.mark.parametrize("target", ["sm_banana", "sm_", "sm_10", "tpu", ""])
def test_unknown_target(compiler, tmp_path, target):
    options = (f"--target={target}", "--mutates=auto")
    message = failure(compiler, tmp_path, export_path(LAYER), *options)
    assert "target" in message
    assert target in message


@pytest.mark.parametrize(
    "option",
    ["--emit=pdf", "--fuse=maybe", "--mutates=0,x", "--mutates=99", "--negative=up"],
)
def test_wrong_option_value(compiler, tmp_path, option):
    message = failure(compiler, tmp_path, export_path(LAYER), option)
    name, value = option.lstrip("-").split("=")
    assert name in message
    assert value.split(",")[-1] in message


@pytest.mark.parametrize("output_type", TYPES)
@pytest.mark.parametrize("declared", [(), ("--mutates=0",), ("--mutates=1,2",)])
def test_undeclared_write(compiler, tmp_path, declared, output_type):
    """SM5: the message suggests the list that would do."""
    source = export_path(LAYER, output_type)
    message = failure(compiler, tmp_path, source, *declared)
    assert "--mutates=0,1,2" in message
    assert re.search(r"\.mlir:\d+:\d+: error: ", message)


WRITE = """
func.func public @main(%cache: tensor<?x4x{page}x8x{element}> {{bufferization.writable = true}},
                       %rows: tensor<?x4x8xbf16>, %slots: tensor<?x{slot}>)
    -> tensor<?x4x{page}x8x{element}> {{
  %0 = kv.write at(%slots : tensor<?x{slot}>) negative(wrap) out_of_bounds(trap)
    put %rows : tensor<?x4x8xbf16> into %cache : tensor<?x4x{page}x8x{element}>
        map(affine_map<(t, s, h, d) -> (s floordiv {divisor}, h, s mod {divisor}, d)>) {{
    ^bb0(%e: bf16):
      %c = kv.cast %e{mode} : bf16 to {element}
      kv.yield %c : {element}
    }}
  return %0 : tensor<?x4x{page}x8x{element}>
}}
"""
GOOD = {"page": 16, "divisor": 16, "element": "f8E4M3FN", "slot": "i64", "mode": ""}


def test_kv_module_compiles(compiler, tmp_path):
    text = WRITE.format(**GOOD)
    output = tmp_path / "out.ptx"
    result = compiler.run("-", "-o", str(output), "--emit=ptx", text=text)
    assert result.returncode == 0, result.stderr.decode()


@pytest.mark.parametrize(
    "changes, rule",
    [
        ({"slot": "i16"}, "SX1"),
        ({"slot": "f32"}, "SX1"),
        ({"divisor": 0}, "SX2"),
        ({"divisor": -16}, "SX2"),
        ({"element": "f8E5M2", "mode": " saturating"}, "SC3"),
    ],
)
def test_kv_operation_that_breaks_a_rule(compiler, tmp_path, changes, rule):
    source = tmp_path / "rule.mlir"
    source.write_text(WRITE.format(**GOOD | changes))
    message = failure(compiler, tmp_path, str(source))
    assert rule in message
    assert re.search(r"rule\.mlir:\d+:\d+: error: ", message)


def test_failure_keeps_the_old_output(compiler, tmp_path):
    output = tmp_path / "output"
    output.write_text("old")
    result = compiler.run("-", "-o", str(output), text="this is no module")
    assert result.returncode == 1
    assert output.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["output"]


def test_output_folder_that_is_not_there(compiler, tmp_path):
    output = tmp_path / "nowhere" / "output"
    result = compiler.run(export_path(LAYER), "-o", str(output), "--mutates=auto")
    assert result.returncode == 1
    assert "nowhere" in result.stderr.decode()


def test_standard_output_that_is_full(compiler):
    """A write that fails is an error, not a short output."""
    options = ["--target=sm_90", "--emit=ptx", "--mutates=auto", "-o", "-"]
    command = [str(compiler.path), export_path(LAYER), *options]
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert result.returncode == 1
    assert b"error" in result.stderr


def test_report_to_a_folder_that_is_not_there(compiler, tmp_path):
    report = tmp_path / "nowhere" / "report.json"
    options = ("--mutates=auto", f"--report={report}")
    message = failure(compiler, tmp_path, export_path(LAYER), *options)
    assert "nowhere" in message
