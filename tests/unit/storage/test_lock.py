"""One writer a folder: real processes, with `flock` and without, alive, killed and on another machine."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heedful.errors import ExitCode, InUseError, OutputError
from heedful.storage import LOCK, alone, holds, writing
from waiting import PATIENCE

fcntl = pytest.importorskip("fcntl")

WORK = """
import errno, fcntl, os, sys
from pathlib import Path
from heedful.errors import InUseError
from heedful.storage import alone
def without(*_):
    raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
folder, way = Path(sys.argv[1]), sys.argv[2]
if way == "claims":
    fcntl.flock = without
print("ready", flush=True)
sys.stdin.readline()
try:
    with alone(folder, "run"):
        with (folder / "who").open("x"):  # fails if another one is in here
            pass
        print("in", flush=True)
        sys.stdin.readline()
        (folder / "who").unlink()
except InUseError:
    print("refused", flush=True)
"""


@pytest.fixture(params=["flock", "claims"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return how a lock is taken; "claims" is a file system without `flock`."""

    def without(*_: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    if request.param == "claims":
        monkeypatch.setattr(fcntl, "flock", without)
    return str(request.param)


class Other:
    """A process that takes the lock of a folder when it is told to, and gives it back when it is told to."""

    def __init__(self, folder: Path, way: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORK, str(folder), way],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.heard() == "ready"

    def heard(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        """Let it give the lock back, if it has not done so, and wait for its end."""
        self.process.communicate("\n" if self.process.poll() is None else None, timeout=PATIENCE)
        assert self.process.returncode == 0


def test_a_folder_is_had_by_one_and_left_as_it_was(tmp_path: Path, way: str) -> None:
    folder = tmp_path / "new" / "run"
    with alone(folder, "run"):
        assert holds(folder)
        assert not holds(tmp_path)
        refused = pytest.raises(InUseError, match="another study is at work there; wait for it")
        with refused as caught, alone(folder, "study"):
            pass
        assert caught.value.exit_code is ExitCode.USAGE
    assert not holds(folder)
    assert list(tmp_path.iterdir()) == []
    folder.mkdir(parents=True)
    (folder / "kept").touch()
    with alone(folder, "run"):
        pass
    assert [path.name for path in folder.iterdir()] == ["kept"]


def test_of_processes_that_start_together_one_is_in(tmp_path: Path, way: str) -> None:
    others = [Other(tmp_path / "run", way) for _ in range(3)]
    for other in others:
        other.go()
    assert sorted(other.heard() for other in others) == ["in", "refused", "refused"]
    for other in others:
        other.end()
    # One that was refused may have made it while another one was in.
    assert not (tmp_path / "run").exists() or not any((tmp_path / "run").iterdir())


def test_a_dead_process_leaves_no_lock_behind(tmp_path: Path, way: str) -> None:
    other = Other(tmp_path, way)
    other.go()
    assert other.heard() == "in"
    with pytest.raises(InUseError), alone(tmp_path, "run"):
        pass
    other.process.kill()
    other.process.communicate()
    with alone(tmp_path, "run"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["who"]


def test_a_lock_is_waited_for(tmp_path: Path, way: str) -> None:
    other = Other(tmp_path, way)
    other.go()
    assert other.heard() == "in"
    other.go()
    with alone(tmp_path, "run", wait=60):
        assert not (tmp_path / "who").exists()
    other.end()


def test_a_claim_of_another_machine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", without)
    claim = tmp_path / f"{LOCK}-00000000.1.1"
    claim.touch()
    with (
        pytest.raises(InUseError, match=f"if nothing runs there any more, delete {claim}"),
        alone(tmp_path, "run"),
    ):
        pass
    claim.unlink()
    with alone(tmp_path, "run"):
        pass


def test_a_place_that_takes_no_lock_is_told(tmp_path: Path) -> None:
    (tmp_path / LOCK).mkdir()  # no permission looks the same, but not to root
    with pytest.raises(OutputError, match="cannot write: Is a directory"), alone(tmp_path, "run"):
        pass


def test_who_has_the_folder_first_removes_what_a_dead_writer_left(tmp_path: Path) -> None:
    machine, _, start = writing.token().split(".")
    left = tmp_path / f"{writing.TEMPORARY}{machine}.{2**40}.{start}-abc"
    own = tmp_path / f"{writing.temporary_name()}abc"
    for path in (left, own, tmp_path / "letter.txt"):
        path.write_text("")
    with alone(tmp_path, "search"):
        assert sorted(path.name for path in tmp_path.iterdir() if path.name != LOCK) == [
            own.name,
            "letter.txt",
        ]
