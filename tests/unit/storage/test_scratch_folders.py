import subprocess
import sys
from pathlib import Path

import pytest

from heedful.storage.scratch_folders import scratch_folder

KILLED = """
import os, signal
from heedful.storage.scratch_folders import scratch_folder
folder = scratch_folder("serve")
(folder / "weights").write_text("many numbers")
print(folder.name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def killed() -> str:
    """Return the name of the folder of a process that was killed."""
    return subprocess.run(
        [sys.executable, "-c", KILLED], check=False, capture_output=True, text=True
    ).stdout.strip()


def test_a_folder_is_private_and_says_what_it_is_for(place: Path) -> None:
    folder = scratch_folder("pipe")
    assert folder.parent == place
    assert folder.name.startswith("heedful-pipe-")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_a_killed_process_left_goes_with_the_next_folder_and_nothing_else_does(place: Path) -> None:
    left, alive = place / killed(), scratch_folder("pipe")
    assert not left.exists()  # the second call removed it
    left = place / killed()
    assert (left / "weights").exists()
    assert alive.exists()  # the process that was killed removed nothing of ours
    others = place / "precious"
    others.mkdir()
    link, file = place / f"{left.name}-link", place / f"{left.name}-file"
    link.symlink_to(others)
    file.write_text("not a folder")
    unknown = place / "heedful-serve-abc"
    unknown.mkdir()
    scratch_folder("serve")
    assert not left.exists()
    assert all(each.exists() for each in (alive, others, link, file, unknown))
