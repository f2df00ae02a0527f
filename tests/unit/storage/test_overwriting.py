"""A file that is read is not written, by any of its names, and nothing outlasts the operation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heedful.errors import UsageError
from heedful.storage import note_read, operation, replacing, write_text


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "pool.csv"
    file.write_text("text\na\n")
    os.link(file, tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to("pool.csv")
    (tmp_path / "folder").mkdir()
    return file


NEW = "./new/../pool.csv"
NAMES = ("pool.csv", "./folder/../pool.csv", "hard.csv", "soft.csv")


@pytest.mark.parametrize("name", NAMES)
def test_what_was_read_is_not_written(pool: Path, name: str) -> None:
    for read, written in ((pool, Path(name)), (Path(name), pool)):
        with operation():
            note_read(read)
            with pytest.raises(UsageError, match=r"is a file that the same command reads.*name another one"):
                write_text(written, "x")
    assert pool.read_text() == "text\na\n"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_being_written_is_not_read(pool: Path, name: str) -> None:
    with operation(), replacing(Path("other.csv")), replacing(Path("new.csv")) as stream:
        stream.write(b"x")
        note_read(pool)

    def read_while_writing() -> None:
        with operation(), replacing(Path(name)):
            note_read(pool)

    with pytest.raises(UsageError, match=rf"{Path(name)}: is a file that the same command reads \({pool}\)"):
        read_while_writing()
    assert pool.read_text() == "text\na\n"


def test_a_name_through_a_folder_that_is_not_there_yet_is_one_too(pool: Path) -> None:
    pool.chmod(0o600)
    with operation():
        note_read(pool)
        with pytest.raises(UsageError, match="is a file that the same command reads"):
            write_text(Path(NEW), "x")
    assert pool.read_text() == "text\na\n"
    write_text(Path(NEW), "x")
    assert (pool.read_text(), pool.stat().st_mode & 0o777) == ("x", 0o600)


def test_an_open_descriptor_is_a_name_too(pool: Path) -> None:
    with pool.open() as stream, operation():
        note_read(stream.fileno())
        for name in (pool, Path(f"/dev/fd/{stream.fileno()}")):
            with pytest.raises(UsageError, match=r"reads \(standard input\)"):
                write_text(name, "x")
    assert pool.read_text() == "text\na\n"


def test_a_later_operation_writes_what_an_earlier_one_read(pool: Path) -> None:
    with operation():
        note_read(pool)
        with operation(), pytest.raises(UsageError):
            write_text(pool, "x")
    with operation():
        write_text(pool, "new")
    note_read(pool)
    write_text(pool, "newer")
    assert pool.read_text() == "newer"


def test_a_device_may_be_read_and_written() -> None:
    with operation():
        note_read(Path(os.devnull))
        write_text(Path(os.devnull), "x")
