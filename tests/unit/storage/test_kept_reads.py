"""What was read of a file is remembered as long as the file is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.errors import ArtifactError
from heedful.storage.installed import kept


def test_a_file_is_read_again_once_it_has_changed(tmp_path: Path) -> None:
    read: list[Path] = []

    def length(path: Path) -> int:
        read.append(path)
        return len(path.read_bytes())

    known = kept(length, most=2)
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("one")
    second.write_text("four")
    assert [known(first), known(second), known(first)] == [3, 4, 3]
    assert read == [first, second]
    first.write_text("three")
    assert known(first) == 5
    second.rename(first)
    assert known(first) == 4
    assert read == [first, second, first, first]


def test_no_failure_is_remembered(tmp_path: Path) -> None:
    known = kept(lambda path: int(path.read_text()))
    with pytest.raises(ArtifactError, match="belongs to an installed package"):
        known(tmp_path / "none")
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(ValueError, match="'x'"):
        known(file)
    file.write_text("12")
    assert known(file) == 12
