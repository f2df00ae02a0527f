"""The environments in which the tests run with the oldest libraries that are promised, and with the newest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heedful_lab.repository import ROOT, versions


def report(*names: str) -> str:
    return json.dumps({"install": [{"metadata": {"name": name}} for name in names]})


def test_the_oldest_are_those_of_the_project() -> None:
    promised = versions.promised()
    assert set(promised) >= {
        "torch",
        "numpy",
        "scipy",
        "scikit-learn",
        "click",
        "tomli-w",
        "pyarrow",
        "optuna",
    }
    assert all(f'"{name}>={old}' in (ROOT / "pyproject.toml").read_text() for name, old in promised.items())
    assert f"numpy=={promised['numpy']}.*" in versions.wanted("oldest")
    assert "numpy" in versions.wanted("newest")
    assert not any("torch" in each for kind in versions.KINDS for each in versions.wanted(kind))


def test_libraries_of_cuda_are_known_by_name() -> None:
    assert versions.brings_cuda(report("torch", "numpy")) == []
    brought = versions.brings_cuda(report("torch", "nvidia-cudnn-cu13", "cuda-toolkit", "triton"))
    assert brought == ["cuda-toolkit", "nvidia-cudnn-cu13", "triton"]


def test_each_kind_is_installed_tested_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        assert "PYTHONPATH" not in options.get("env", {})
        failed = "pytest" in command and "newest" in command[0]
        return subprocess.CompletedProcess(command, int(failed), stdout=report("torch"))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    assert versions.main([str(tmp_path), "oldest", "newest", "--tests", "tests/unit/text"]) == 1
    assert capsys.readouterr().out.splitlines() == ["oldest: passed", "newest: FAILED"]
    words = [" ".join(command) for command in asked]
    assert sum("-m venv" in each for each in words) == 2
    assert any("numpy==1.26.*" in each and f"{tmp_path}/oldest/" in each for each in words)
    assert all("heedful-en" not in each for each in words)


def test_a_torch_with_cuda_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.CompletedProcess([], 0, stdout=report("torch", "nvidia-nccl-cu12"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(SystemExit, match=r"torch==2.6.0 brings 1 libraries of CUDA \(nvidia-nccl-cu12"):
        versions.install(tmp_path, "oldest", sys.executable, "torch==2.6.0")
