# Part of kvfuse, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The committed exports are what torch-mlir makes of models.py today."""

import pytest

import export


def test_committed_exports_are_current(capsys):
    assert export.main(["--check"]) == 0, capsys.readouterr().err


def test_check_names_what_is_stale(tmp_path):
    """A changed, a missing and a left over file are each named."""
    wanted = {"changed.mlir": "new", "missing.mlir": "new", "same.mlir": "same"}
    (tmp_path / "changed.mlir").write_text("old")
    (tmp_path / "same.mlir").write_text("same")
    (tmp_path / "leftover.mlir").write_text("old")
    stale = export.stale_files(wanted, tmp_path)
    assert stale == ["changed.mlir", "leftover.mlir", "missing.mlir"]


def test_out_writes_the_named_exports_only(tmp_path):
    assert export.main(["--out", str(tmp_path), "hnd_k_page3"]) == 0
    names = {"hnd_k_page3.raw.mlir", "hnd_k_page3.torch.mlir"}
    assert {path.name for path in tmp_path.iterdir()} == names
    for name in names:
        assert (tmp_path / name).read_text() == (export.HERE / name).read_text()


def test_check_fails_when_a_file_is_stale(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(export.models, "COMMITTED", {})
    (tmp_path / "leftover.raw.mlir").write_text("old")
    assert export.main(["--check", "--out", str(tmp_path)]) == 1
    assert "leftover.raw.mlir" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["no_such_layer"], ["--check", "hnd_k_page3"]])
def test_wrong_arguments_are_errors(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        export.main(arguments)
    assert stopped.value.code == 2
    assert "error:" in capsys.readouterr().err
