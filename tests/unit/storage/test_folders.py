"""Writing: the old state or the new one, never a half; every refusal is told plainly."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heedful.errors import OutputError
from heedful.storage import (
    folders,
    plain_errors,
    recover_folder,
    remove_folder,
    replace_folder,
    sha256,
    stands,
    sweep,
    temporary_name,
    write_text,
    writing,
)
from heedful.storage.manifest import write_manifest
from waiting import PATIENCE


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def fill(folder: Path, *files: str, content: str = "x") -> None:
    """Write files with their manifest, as whoever replaces folders does."""
    for name in files:
        (folder / name).write_text(content)
    write_manifest(folder, files)


def test_sha256_of_known_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_text_is_written_whole_in_utf8_with_plain_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.txt"
    write_text(path, "één\ntwo\n")
    write_text(path, "één\n")
    assert path.read_bytes() == "één\n".encode()
    assert names(path.parent) == ["a.txt"]


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    monkeypatch.setattr(os, step, no_space)
    with pytest.raises(OutputError) as caught:
        write_text(path, "new")
    assert str(caught.value) == (
        f"{path}: cannot write: No space left on device. Choose another folder or free some space."
    )
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_file_in_the_way_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match=r"file/a\.txt: cannot write: "):
        write_text(tmp_path / "file" / "a.txt", "new")


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "model"
    for content in ("one", "two"):
        with replace_folder(path) as new:
            fill(new, content)
            assert not (path / content).exists()
    assert names(path) == ["manifest.json", "two"]
    assert names(path.parent) == ["model"]


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
def test_a_body_that_fails_leaves_the_old_folder(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "model"
    with replace_folder(path) as new:
        fill(new, "old")
    expected = OutputError if isinstance(error, OSError) else type(error)

    def half_write() -> None:
        with replace_folder(path) as new:
            (new / "half").write_text("half")
            raise error

    with pytest.raises(expected):
        half_write()
    assert names(tmp_path) == ["model"]
    assert names(path) == ["manifest.json", "old"]


def test_a_failing_second_rename_puts_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    path.mkdir()
    fill(path, "old")
    monkeypatch.setattr(folders, "_exchange", lambda *_: False)
    real, calls = os.replace, []

    def second_fails(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == 2:
            no_space()
        real(source, target)

    monkeypatch.setattr(os, "replace", second_fails)
    with pytest.raises(OutputError, match="No space left"), replace_folder(path) as new:
        (new / "new").write_text("new")
    assert len(calls) == 3
    assert names(tmp_path) == ["model"]
    assert names(path) == ["manifest.json", "old"]


KILLED = """
import os, sys
from pathlib import Path
from heedful import storage as files
from heedful.storage import folders
from heedful.storage.manifest import write_manifest
path, at, exchanging = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "exchanging"
count = 0
def dying(where, name):
    real = getattr(where, name)
    def call(*args):
        global count
        count += 1
        if count == at:
            os._exit(9)
        return real(*args)
    setattr(where, name, call)
if not exchanging:
    folders._exchange = lambda *_: False
for where, name in ((os, "fsync"), (os, "replace"), (folders, "_exchange"), (folders, "remove_tree")):
    dying(where, name)
with files.replace_folder(path) as new:
    (new / "a").write_text("new")
    (new / "b").write_text("new")
    write_manifest(new, ["a", "b"])
os._exit(0)
"""


@pytest.mark.parametrize("way", ["exchanging", "renaming"])
def test_a_kill_at_any_step_leaves_one_whole_state(tmp_path: Path, way: str) -> None:
    path = tmp_path / "model"
    outcomes = []
    for step in range(1, 20):
        with replace_folder(path) as new:
            fill(new, "a", "b", content="old")
        (path / "notes.txt").write_text("mine")
        words = [sys.executable, "-c", KILLED, str(path), str(step), way]
        result = subprocess.run(words, timeout=PATIENCE, check=False)
        place = stands(path)
        assert place is not None
        assert {(place / name).read_text() for name in ("a", "b")} in ({"old"}, {"new"})
        assert (place / "notes.txt").read_text() == "mine"
        recover_folder(path)
        assert names(tmp_path) == ["model"]
        assert names(path) == ["a", "b", "manifest.json", "notes.txt"]
        contents = {(path / name).read_text() for name in ("a", "b")}
        assert len(contents) == 1
        outcomes.append((result.returncode, contents.pop()))
        if result.returncode == 0:
            break
    assert outcomes[-1] == (0, "new")
    assert len(outcomes) >= 5
    assert {(9, "old"), (9, "new")} <= set(outcomes)


def test_recovery_spares_a_neighbor_with_a_longer_name(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "run-2") as new:
        (new / "a").write_text("half")
        recover_folder(tmp_path / "run")
        with replace_folder(tmp_path / "run") as other:
            (other / "b").write_text("whole")
        assert (new / "a").exists()
    assert names(tmp_path) == ["run", "run-2"]


LEAVE = """
import sys, tempfile
from heedful.storage import temporary_name
print(tempfile.mkdtemp(prefix=temporary_name("new-"), dir=sys.argv[1]), flush=True)
sys.stdin.read()
"""


def test_only_what_a_dead_process_left_is_swept(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", LEAVE, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    left = Path(other.stdout.readline().strip())
    own = tmp_path / f"{temporary_name('new-')}abc"
    users = tmp_path / ".tmp-mine"
    elsewhere = tmp_path / ".tmp-new-00000000.1.1-abcdefgh"
    formerly = tmp_path / ".tmp-new-model[1]-ab_c12d3"
    for folder in (own, users, elsewhere, formerly):
        folder.mkdir()
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([left, own, users, elsewhere, formerly])
    other.kill()
    other.communicate()
    long_ago = time.time() - 3 * 86400
    for folder in (own, users, elsewhere, formerly):
        os.utime(folder, (long_ago, long_ago))
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([own, users])


def test_a_process_that_has_the_number_of_a_dead_one_is_another() -> None:
    machine, process, start = writing.token().split(".")
    assert writing.is_dead(f"x-{machine}.{process}.{start}-y") is False
    assert writing.is_dead(f"x-{machine}.{process}.{int(start) - 1}-y") is True
    assert writing.is_dead(f"x-{machine}.{2**40}.{start}-y") is True
    assert writing.is_dead("x-y") is None


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES, errno.EROFS, errno.EIO])
def test_space_is_named_only_where_it_is_the_cause(tmp_path: Path, number: int) -> None:
    def reason(code: int) -> str:
        with pytest.raises(OutputError) as caught, plain_errors(tmp_path):
            raise OSError(code, os.strerror(code))
        return str(caught.value)

    assert "free some" not in reason(number)
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        assert "free some space" in reason(code)


def test_a_file_is_never_replaced_by_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with (
        pytest.raises(OutputError, match=r"notes\.txt: is a file, and a folder goes there"),
        replace_folder(path),
    ):
        pass
    assert path.read_text() == "mine"
    assert names(tmp_path) == ["notes.txt"]


def test_only_the_folder_of_a_run_is_removed(tmp_path: Path) -> None:
    write_text(tmp_path / "web" / "manifest.json", "{}")
    write_text(tmp_path / "web" / "config.json", "{}")
    with pytest.raises(OutputError, match="is not a run of Heedful's"):
        remove_folder(tmp_path / "web")
    assert names(tmp_path / "web") == ["config.json", "manifest.json"]
    write_text(tmp_path / "run" / "metrics.jsonl", "")
    write_text(tmp_path / "run" / "notes.txt", "mine")
    remove_folder(tmp_path / "run")
    assert names(tmp_path / "run") == ["notes.txt"]
    write_text(tmp_path / "run" / "metrics.jsonl", "")
    (tmp_path / "run" / "notes.txt").unlink()
    for _ in range(2):
        remove_folder(tmp_path / "run")
        assert names(tmp_path) == ["web"]


def test_the_first_plain_message_wins(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught, plain_errors(tmp_path), plain_errors(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "Permission denied")
    assert str(caught.value).startswith(f"{tmp_path / 'a'}: cannot write: Permission denied")
    with pytest.raises(KeyError), plain_errors(tmp_path):
        raise KeyError("not about files")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_process_that_nobody_has_waited_for_is_dead() -> None:
    code = (
        "from heedful.storage.writing import token; print(token(), flush=True); import time; time.sleep(600)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    name = f"x-{child.stdout.readline().strip()}-y"
    assert writing.is_dead(name) is False
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it is over, and still has its number
    assert writing.is_dead(name) is True
    child.wait()
    child.stdout.close()
