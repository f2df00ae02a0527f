"""Fields of a record are read as the type they must have, or refused by a line with the file and the field."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heedful.errors import ArtifactError, DataError
from heedful.storage.fields import Fields, read_fields

RECORD = {
    "name": "trec",
    "seconds": 3,
    "share": 0.5,
    "steps": 12,
    "kept": True,
    "labels": ["a", "b"],
    "ends": [0, 0.5],
    "peak": None,
    "train": {"seed": 1, "deep": {"lr": "high"}},
    "pairs": [{"id": "1"}, {"id": 2}],
    "files": {"a.csv": "00", "b.csv": "01"},
}


def fields() -> Fields:
    return Fields(RECORD, "run.json")


def test_each_type_is_read_as_it_stands() -> None:
    found = fields()
    assert (found.text("name"), found.number("share"), found.whole("steps")) == ("trec", 0.5, 12)
    assert type(found.number("seconds")) is int
    assert found.flag("kept") is True
    assert (found.texts("labels"), found.numbers("ends")) == (("a", "b"), (0, 0.5))
    assert found.part("train").whole("seed") == 1
    assert found.parts("pairs")[0].text("id") == "1"
    assert found.texts_by_name("files") == {"a.csv": "00", "b.csv": "01"}
    assert found.table("train") is RECORD["train"]
    assert list(Fields({"one": {"x": 1}}, "").parts_by_name()["one"]) == ["x"]


def test_a_default_stands_for_a_field_that_is_not_there() -> None:
    found = fields()
    assert found.text("note", "") == ""
    assert found.number("cost", 1.0) == 1.0
    assert found.flag("pairwise", False) is False
    assert found.texts("needs", ()) == ()
    assert list(found.part("own", {})) == []
    assert "peak" not in found
    assert "note" not in found
    assert "steps" in found


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda one: one.text("note"), "run.json: note is missing"),
        (lambda one: one.text("steps"), "run.json: steps must be a string; got 12"),
        (lambda one: one.text("peak", ""), "run.json: peak must be a string; got None"),
        (lambda one: one.number("kept"), "run.json: kept must be a number; got True"),
        (lambda one: one.whole("share"), "run.json: share must be a whole number; got 0.5"),
        (lambda one: one.flag("steps"), "run.json: steps must be true or false; got 12"),
        (lambda one: one.texts("name"), "run.json: name must be a list; got 'trec'"),
        (lambda one: one.wholes("ends"), "ends must be a list in which each item is a whole number; got 0.5"),
        (lambda one: one.part("name"), "run.json: name must be a table; got 'trec'"),
        (lambda one: one.part("train").text("seed"), "run.json: train.seed must be a string; got 1"),
        (
            lambda one: one.part("train").part("deep").number("lr"),
            "train.deep.lr must be a number; got 'high'",
        ),
        (lambda one: one.parts("pairs")[1].text("id"), r"run.json: pairs\[1\].id must be a string; got 2"),
        (lambda one: one.parts("labels"), r"run.json: labels\[0\] must be a table; got 'a'"),
    ],
)
def test_what_is_wrong_is_named(read, message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        read(fields())


def test_the_record_itself_must_be_a_table_and_the_exception_may_be_another() -> None:
    with pytest.raises(ArtifactError, match=r"run\.json: the record must be a table; got 3"):
        Fields(3, "run.json")
    with pytest.raises(ArtifactError, match="must be a table"):
        Fields({1: "one"}, "run.json")
    with pytest.raises(DataError, match=r"line 3: train\.text is missing"):
        Fields({"train": {}}, "line 3", error=DataError).part("train").text("text")
    with pytest.raises(ValueError, match=r"^label is missing$"):
        Fields({}, "", error=ValueError).value("label")


def test_a_field_that_nobody_knows_is_named() -> None:
    fields().part("train").only("seed", "deep")
    with pytest.raises(ArtifactError, match=r"run.json: train.deep is unknown; known: seed$"):
        fields().part("train").only("seed")


def test_a_pipe_or_a_folder_in_the_place_of_a_record_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, kind in (("pipe", "none"), ("folder", "a folder")):
        with pytest.raises(ArtifactError, match=f"{name}: expected a file, and it is {kind}"):
            read_fields(tmp_path / name)
