"""Writing: the old state or the new one, never a half; every refusal is told plainly."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heedful import files
from heedful.errors import OutputError, UsageError
from heedful.files import (
    alone,
    recover_folder,
    remove_folder,
    replace_folder,
    sha256,
    told_plainly,
    write_text,
)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_sha256_of_known_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_text_is_written_whole_in_utf8_with_plain_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.txt"
    write_text(path, "één\ntwo\n")
    write_text(path, "één\n")
    assert path.read_bytes() == "één\n".encode()
    assert names(path.parent) == ["a.txt"]
    assert path.stat().st_mode & 0o777 == 0o644


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    monkeypatch.setattr(files.os, step, no_space)
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
            (new / "sub").mkdir()
            (new / "sub" / content).write_text(content)
            assert not (path / "sub" / content).exists()
    assert names(path / "sub") == ["two"]
    assert names(path.parent) == ["model"]
    assert path.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
def test_a_body_that_fails_leaves_the_old_folder(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "model"
    with replace_folder(path) as new:
        (new / "old").write_text("old")
    expected = OutputError if isinstance(error, OSError) else type(error)

    def half_write() -> None:
        with replace_folder(path) as new:
            (new / "half").write_text("half")
            raise error

    with pytest.raises(expected):
        half_write()
    assert names(tmp_path) == ["model"]
    assert names(path) == ["old"]


def test_a_failing_second_rename_puts_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model"
    path.mkdir()
    (path / "old").write_text("old")
    real, calls = os.replace, []

    def second_fails(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == 2:
            no_space()
        real(source, target)

    monkeypatch.setattr(files.os, "replace", second_fails)
    with pytest.raises(OutputError, match="No space left"), replace_folder(path) as new:
        (new / "new").write_text("new")
    assert len(calls) == 3
    assert names(tmp_path) == ["model"]
    assert names(path) == ["old"]


KILLED = """
import os, sys
from pathlib import Path
from heedful import files
path, at = Path(sys.argv[1]), int(sys.argv[2])
count = 0
def dying(name):
    real = getattr(os, name)
    def call(*args):
        global count
        count += 1
        if count == at:
            os._exit(9)
        return real(*args)
    setattr(os, name, call)
for name in ("fsync", "replace"):
    dying(name)
with files.replace_folder(path) as new:
    (new / "a").write_text("new")
    (new / "b").write_text("new")
os._exit(0)
"""


def test_a_kill_at_any_step_leaves_one_whole_state(tmp_path: Path) -> None:
    path = tmp_path / "model"
    outcomes = []
    for step in range(1, 20):
        with replace_folder(path) as new:
            (new / "a").write_text("old")
            (new / "b").write_text("old")
        result = subprocess.run([sys.executable, "-c", KILLED, str(path), str(step)], timeout=60, check=False)
        recover_folder(path)
        assert names(tmp_path) == ["model"]
        contents = {(path / name).read_text() for name in ("a", "b")}
        assert len(contents) == 1
        outcomes.append((result.returncode, contents.pop()))
        if result.returncode == 0:
            break
    assert outcomes[-1] == (0, "new")
    assert len(outcomes) >= 5
    assert (9, "old") in outcomes


def test_recovery_spares_a_neighbour_with_a_longer_name(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "run-2") as new:
        (new / "a").write_text("half")
        recover_folder(tmp_path / "run")
        with replace_folder(tmp_path / "run") as other:
            (other / "b").write_text("whole")
        assert (new / "a").exists()
    assert names(tmp_path) == ["run", "run-2"]


def test_recovery_drops_what_was_half_written(tmp_path: Path) -> None:
    (tmp_path / ".tmp-new-model[1]-ab_c12d3").mkdir()
    recover_folder(tmp_path / "model[1]")
    assert names(tmp_path) == []


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
    for _ in range(2):
        remove_folder(tmp_path / "run")
        assert names(tmp_path) == ["web"]


def test_the_first_plain_message_wins(tmp_path: Path) -> None:
    with pytest.raises(OutputError) as caught, told_plainly(tmp_path), told_plainly(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "Permission denied")
    assert str(caught.value).startswith(f"{tmp_path / 'a'}: cannot write: Permission denied")
    with pytest.raises(KeyError), told_plainly(tmp_path):
        raise KeyError("not about files")


def test_a_second_process_is_kept_out_and_a_place_that_takes_no_lock_is_told(tmp_path: Path) -> None:
    with (
        alone(tmp_path / "study", "study"),
        pytest.raises(UsageError, match="another study is at work there"),
        alone(tmp_path / "study", "study"),
    ):
        pass
    with alone(tmp_path / "study", "study"):
        pass
    (tmp_path / "closed" / "lock.db").mkdir(parents=True)  # no permission looks the same, but not to root
    with (
        pytest.raises(OutputError, match=r"lock\.db: cannot write: unable to open database file"),
        alone(tmp_path / "closed", "study"),
    ):
        pass
