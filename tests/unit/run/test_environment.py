"""Facts for a report."""

from __future__ import annotations

import getpass
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from heedful import __version__
from heedful.run.environment import commit, describe, peak_gpu_megabytes, reset_peaks
from waiting import PATIENCE


def test_facts_are_versions_and_say_nothing_of_the_user() -> None:
    facts = describe()
    assert facts["heedful"] == __version__
    assert facts["python"] == platform.python_version()
    assert {"torch", "numpy", "scipy", "threads", "cuda", "kernels: compiled"} <= set(facts)
    assert {"sacrebleu", "tokenizers", "spacy", "stanza", "transformers", "safetensors"} <= set(facts)
    assert all(isinstance(value, str) and value for value in facts.values())
    assert facts.get("commit") == commit()
    assert platform.node() not in facts.values()
    assert getpass.getuser() not in facts.values()


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_checkout_names_its_commit_and_whether_the_package_was_changed(tmp_path: Path) -> None:
    package = tmp_path / "src" / "heedful"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("one = 1\n", encoding="utf-8")
    (tmp_path / "page.md").write_text("One.\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    assert commit(package) is None  # the checkout does not track the package
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "One.")
    commit.cache_clear()
    head = git(tmp_path, "rev-parse", "HEAD")[:12]
    assert commit(package) == head
    (tmp_path / "page.md").write_text("Two.\n", encoding="utf-8")
    (package / "kernels.so").write_bytes(b"")
    commit.cache_clear()
    assert commit(package) == head  # pages and built files are no code of the package
    (package / "__init__.py").write_text("one = 2\n", encoding="utf-8")
    assert commit(package) == head  # as it was when this was first asked
    commit.cache_clear()
    assert commit(package) == f"{head}-changed"


def test_without_git_no_commit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    commit.cache_clear()
    assert commit(tmp_path) is None


OF_A_FRESH_PROCESS = """
import numpy as np
from heedful.run.environment import peak_megabytes, reset_peaks

block = np.ones(300 << 17)  # 300 MB
reset_peaks()
held = peak_megabytes()
del block
reset_peaks()
left = peak_megabytes()
np.ones(100 << 17)
print(held, left, peak_megabytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process reset its peak")
def test_a_peak_is_of_what_came_after_the_reset() -> None:
    # A process of its own: what earlier tests left behind in this one may be freed between two looks.
    printed = subprocess.run(
        [sys.executable, "-c", OF_A_FRESH_PROCESS],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout
    held, left, after = map(int, printed.split())
    assert left < held - 250
    assert left + 80 < after < held - 150


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_gpu_there_is_no_peak_of_one() -> None:
    reset_peaks()
    assert peak_gpu_megabytes() is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_the_peak_of_a_gpu_is_of_its_tensors_after_the_reset() -> None:
    block = torch.ones(300 << 18, device="cuda")  # 300 MB
    reset_peaks()
    held = peak_gpu_megabytes()
    assert held is not None
    assert held >= 300
    del block
    reset_peaks()
    assert (peak_gpu_megabytes() or 0) <= held - 300
