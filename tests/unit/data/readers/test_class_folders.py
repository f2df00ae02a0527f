"""A folder of text files for each class is a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.data.readers.class_folders import (
    folder_problem,
    folder_records,
    found_data,
    is_class_folder,
    sum_of_folder,
)
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    folder = tmp_path / "reviews"
    for name, text in (("pos/2.txt", "Fine.\nVery."), ("pos/1.txt", "Good."), ("neg/1.txt", "Bad.")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / ".hidden").write_text("")
    return folder


def test_files_of_every_class(reviews: Path) -> None:
    assert is_class_folder(reviews)
    assert [
        (row, record["label"], record["text"], record["file"]) for row, record in folder_records(reviews)
    ] == [
        (1, "neg", "Bad.", "neg/1.txt"),
        (2, "pos", "Good.", "pos/1.txt"),
        (3, "pos", "Fine.\nVery.", "pos/2.txt"),
    ]
    assert [example.target for example in read_table(reviews, text="text", label="label").examples] == [
        "neg",
        "pos",
        "pos",
    ]


def test_what_is_no_such_folder(reviews: Path, tmp_path: Path) -> None:
    assert not is_class_folder(reviews / "pos")
    assert not is_class_folder(tmp_path)  # one folder is no choice
    (reviews / "list.csv").write_text("")
    assert not is_class_folder(reviews)
    with pytest.raises(DataError, match="is a folder, a file was expected"):
        found_data(reviews)


def test_folders_below_the_classes_and_classes_without_files_are_said(
    reviews: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (reviews / "pos" / "2024").mkdir()
    (reviews / "pos" / "2024" / "3.txt").write_text("Great.")
    (reviews / "mixed").mkdir()
    assert len(list(folder_records(reviews))) == 3
    assert f"{reviews / 'pos'}: the folders in it are not read: 2024" in caplog.text
    assert f"{reviews / 'mixed'}: holds no files" in caplog.text


def test_why_a_folder_is_none_of_classes(reviews: Path, tmp_path: Path) -> None:
    assert folder_problem(tmp_path).endswith("it holds the folder reviews alone")
    for part in ("train", "test"):
        (tmp_path / "parts" / part / "pos").mkdir(parents=True)
    assert folder_problem(tmp_path / "parts").endswith("the folders in it hold no files: test, train")
    assert folder_problem(tmp_path / "parts" / "train" / "pos").endswith("it holds nothing")
    (reviews / "README").write_text("")
    assert folder_problem(reviews).endswith("it holds files itself: README")


def test_the_sum_is_of_names_and_contents(reviews: Path) -> None:
    before = sum_of_folder(reviews)
    (reviews / "pos/1.txt").rename(reviews / "pos/3.txt")
    renamed = sum_of_folder(reviews)
    (reviews / "pos/3.txt").write_text("Other.")
    assert len({before, renamed, sum_of_folder(reviews)}) == 3


def test_a_file_in_another_encoding_is_named(reviews: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (reviews / "neg/1.txt").write_bytes("schön".encode("latin-1"))
    with pytest.raises(DataError, match=r"neg.1\.txt: byte 0xf6 at 3 is not utf-8"):
        list(folder_records(reviews))
    assert next(iter(folder_records(reviews, "latin-1")))[1]["text"] == "schön"
    monkeypatch.setenv("HEEDFUL_MAX_LINE", "3")
    with pytest.raises(DataError, match="the text has more than"):
        list(folder_records(reviews, "latin-1"))
