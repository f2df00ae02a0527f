"""The folder of the predictions of many parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.bulk.output_folder import OWN, OutputFolder
from heedful.errors import UsageError


def test_a_folder_begins_again_if_the_disk_was_full_before_its_first_file(tmp_path: Path) -> None:
    (tmp_path / OWN).mkdir()
    OutputFolder(tmp_path).begin({"model": "a"})
    OutputFolder(tmp_path).begin({"model": "b"})  # nothing was finished by the first
    (tmp_path / OWN / "done").mkdir()
    (tmp_path / OWN / "done" / "texts.json").write_text("{}")
    with pytest.raises(UsageError, match="predictions of another model"):
        OutputFolder(tmp_path).begin({"model": "a"})


def test_a_folder_with_files_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / OWN).mkdir()
    (tmp_path / OWN / "mine.txt").touch()
    with pytest.raises(UsageError, match="holds other files"):
        OutputFolder(tmp_path).begin({"model": "a"})
    assert (tmp_path / OWN / "mine.txt").exists()
