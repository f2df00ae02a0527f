"""Entry points of installed packages are found once, and again where a folder of ``sys.path`` has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heedful.errors import ArtifactError
from heedful.runtime import sentence_features
from heedful.storage.entry_points import EntryPoint, entry_points
from heedful.storage.installed import installed, installed_folder, kept

GROUP = "heedful.made"


def _install(place: Path, name: str) -> None:
    info = place / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {__name__}:a_folder\n")


def a_folder() -> Path:
    return Path(__file__).parent


def test_a_package_that_is_installed_later_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    find = entry_points

    def counting() -> list[EntryPoint]:
        asked.append(len(asked))
        return find()

    monkeypatch.setattr("heedful.storage.installed.entry_points", counting)
    monkeypatch.syspath_prepend(tmp_path)
    os.utime(tmp_path, (0, 0))  # what is installed changes it
    assert installed(GROUP) == installed(GROUP) == installed("heedful.other") == {}
    assert asked == [0]  # the metadata of all packages is read once for all groups
    _install(tmp_path, "first")
    assert list(installed(GROUP)) == list(installed(GROUP)) == ["first"]
    assert asked == [0, 1]
    assert installed_folder(GROUP, "first") == Path(__file__).parent
    assert installed_folder(GROUP, "second") is None


def test_entry_points_that_an_installation_writes_last_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    _install(tmp_path, "whole")
    points = tmp_path / "whole-1.0.dist-info" / "entry_points.txt"
    text = points.read_text()
    points.unlink()
    os.utime(points.parent, (0, 0))
    assert installed(GROUP) == {}
    points.write_text(text)  # which changes nothing in the folder of sys.path itself
    assert list(installed(GROUP)) == ["whole"]


@pytest.mark.english
def test_what_is_given_out_is_a_copy() -> None:
    installed("heedful.models").clear()
    assert "en-nli" in installed("heedful.models")


def test_a_folder_that_changed_long_ago_is_not_searched_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []
    search = os.scandir
    monkeypatch.setattr(os, "scandir", lambda place: searched.append(str(place)) or search(place))
    monkeypatch.syspath_prepend(tmp_path)
    _install(tmp_path, "whole")
    assert list(installed(GROUP)) == ["whole"]
    assert str(tmp_path) in searched
    os.utime(tmp_path, (0, 0))
    searched.clear()
    assert list(installed(GROUP)) == ["whole"]
    assert str(tmp_path) not in searched


def test_a_file_that_an_installed_package_lost_is_named(tmp_path: Path) -> None:
    read = kept(lambda path: path.read_text(encoding="utf-8"))
    with pytest.raises(ArtifactError, match=r"rows\.bin: No such file.* belongs to an installed package"):
        read(tmp_path / "rows.bin")
    with pytest.raises(ArtifactError, match=r"Is a directory.* belongs to an installed package"):
        read(tmp_path)
    (tmp_path / "words").write_bytes(b"\xb9")
    with pytest.raises(ArtifactError, match=r"words: .*decode.* belongs to an installed package"):
        read(tmp_path / "words")


def test_base_forms_of_an_installed_package_that_are_no_text_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / sentence_features.ROWS).write_bytes(b"")
    (tmp_path / sentence_features.BASEFORMS).write_bytes(b"\xb9")
    monkeypatch.setattr(sentence_features, "packaged_rows", lambda _: tmp_path)
    with pytest.raises(ArtifactError, match=r"baseforms\.tsv: .*decode.* belongs to an installed package"):
        sentence_features.MeanOfVectors.packaged("made")
