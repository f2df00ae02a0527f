"""A file that is changed while it is read is refused, whatever way it changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from heedful.errors import DataError
from heedful.storage.file_states import state_of, unchanged


def _replace(file: Path) -> None:
    other = file.with_suffix(".new")
    other.write_bytes(file.read_bytes())
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    other.replace(file)  # the same size and time: another file


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text("text\na\nb\n"),
        lambda file: file.write_text("text\n"),
        lambda file: os.truncate(file, 3),
        lambda file: os.utime(file, ns=(0, 1)),
        _replace,
    ],
)
def test_a_change_is_refused(tmp_path: Path, change: Callable[[Path], object]) -> None:
    file = tmp_path / "pool.csv"
    file.write_text("text\na\n")
    with pytest.raises(DataError, match=r"pool\.csv: was changed while it was read"), unchanged(file):
        change(file)


def test_what_stays_or_goes_is_not(tmp_path: Path) -> None:
    file, link = tmp_path / "pool.csv", tmp_path / "link.csv"
    file.write_text("text\na\n")
    link.symlink_to(file)
    with unchanged(file, link, tmp_path, tmp_path / "none"):
        file.read_text()
        (tmp_path / "other.csv").write_text("")
    with unchanged(file):
        file.unlink()  # its reader has it open, to its end
    assert state_of(file) == ()
    assert state_of(Path("a\0b")) == ()


def test_an_error_of_the_body_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "pool.csv"
    file.write_text("a")
    with pytest.raises(UnicodeDecodeError), unchanged(file):
        file.write_bytes(b"\xff") and file.read_text(encoding="utf-8")
