"""What is written for Label Studio and doccano is read again, by this page and by training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from heedful.data.readers.reading import FileReading
from heedful.data.readers.table_files import read_table
from heedful.errors import DataError, UsageError
from heedful.labeling.exchange import export_labels, taken_labels
from heedful.labeling.forms import form_of
from heedful.labeling.label_file import LabelFile, Record

FORMS: list[tuple[Any, tuple[str, ...], list[Any]]] = [
    (form_of("classes", ['a, "b"', "c"]), ("x, y",), ['a, "b"', "c"]),
    (form_of("several", ['a, "b"', "c"]), ("x, y",), [['a, "b"', "c"], ["c"]]),
    (form_of("number", []), ("x, y",), [0.5, 3.0]),
    (form_of("classes", ["a", "c"], pair=True), ("x", "y"), ["a", "c"]),
    (form_of("spans", ["PER"]), ("Ann 😀 sings",), [[[0, 3, "PER"]], [[6, 11, "PER"]]]),
]


def made(folder: Path, form: Any, texts: Any, labels: Any) -> Path:
    path = folder / ("labels.jsonl" if form.kind == "spans" else "labels.csv")
    file = LabelFile(path, form, print)
    file.add([Record((f"{texts[0]} {k}", *texts[1:]), label, by="Ann") for k, label in enumerate(labels)])
    return path


@pytest.mark.parametrize(("form", "texts", "labels"), FORMS)
@pytest.mark.parametrize("name", ["tasks.json", "lines.jsonl"])
def test_what_is_exported_is_taken_over_again(
    tmp_path: Path, form: Any, texts: Any, labels: Any, name: str
) -> None:
    path = made(tmp_path, form, texts, labels)
    assert export_labels(path, form, tmp_path / name) == 2
    found = taken_labels(tmp_path / name, form, FileReading())
    assert [(each.texts, each.label) for each in found] == [
        ((f"{texts[0]} {k}", *texts[1:]), label) for k, label in enumerate(labels)
    ]


def test_every_person_has_an_annotation_of_a_task(tmp_path: Path) -> None:
    form = form_of("classes", ["a", "b"])
    file = LabelFile(tmp_path / "labels.csv", form, print)
    file.add([Record(("x",), "a", by="Ann"), Record(("x",), "b", by="Bob"), Record(("y",), "-", by="Bob")])
    export_labels(tmp_path / "labels.csv", form, tmp_path / "tasks.json")
    one, other = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    chosen = [each["result"][0]["value"]["choices"] for each in one["annotations"]]
    assert chosen == [["a"], ["b"]]
    assert other["annotations"][0]["result"] == []
    assert [
        e.target
        for e in read_table(tmp_path / "tasks.json", text="text", label="label", on_missing="skip").examples
    ] == ["a"]


def test_doccano_lines_are_a_pool_and_its_labels(tmp_path: Path) -> None:
    (tmp_path / "pool.jsonl").write_text(
        '{"id": 1, "text": "x", "label": ["a"]}\n{"id": 2, "text": "y", "label": []}\n', encoding="utf-8"
    )
    found = taken_labels(tmp_path / "pool.jsonl", form_of("classes", ["a", "b"]), FileReading())
    assert [(each.texts, each.label, each.by) for each in found] == [(("x",), "a", "pool")]


def test_other_labels_and_other_names_are_refused(tmp_path: Path) -> None:
    form = form_of("classes", ["a", "b"])
    (tmp_path / "pool.csv").write_text("text,label\nx,other\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pool\.csv: row 2: there is no label 'other'"):
        taken_labels(tmp_path / "pool.csv", form, FileReading())
    with pytest.raises(UsageError, match="is no table"):
        taken_labels(tmp_path / "pool.txt", form, FileReading())
    with pytest.raises(UsageError, match=r"expected \.json for Label Studio"):
        export_labels(tmp_path / "labels.csv", form, tmp_path / "out.xml")
    with pytest.raises(UsageError, match="there is nothing to export"):
        export_labels(tmp_path / "labels.csv", form, tmp_path / "out.json")
