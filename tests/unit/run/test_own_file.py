"""From a file to the recipe that trains on it, said in one line."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from heedful.data.catalog import data_set
from heedful.data.datasets import own_data_sets
from heedful.data.readers.tag_columns import looks_tagged
from heedful.errors import DataError, UsageError
from heedful.run.learned_recipe import learned_by, outputs_of
from heedful.run.own_file import OwnFile, is_own_file, own_file
from heedful.run.recipe_files import load_config

ROWS = [f"the film number {k} was quite long,{'good' if k % 2 else 'bad'}" for k in range(20)]


def written(folder: Path, name: str, lines: list[str]) -> str:
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


@pytest.fixture
def reviews(tmp_path: Path) -> str:
    return written(tmp_path, "reviews.csv", ["review,mood", *ROWS])


def found(name: str, root: Path, *overrides: str) -> OwnFile:
    own = own_file(name, overrides, root)
    load_config(own.recipe, [*own.overrides, *overrides])  # the settings are accepted
    return own


def test_texts_and_classes(reviews: str, tmp_path: Path) -> None:
    own = found(reviews, tmp_path)
    assert own.recipe == "my-texts"
    assert own.overrides == ('data.train="reviews.csv"', 'data.text="review"', 'data.label="mood"')
    assert own.note == "reviews.csv: texts in “review”, classes in “mood” (bad, good); trained as my-texts"


def test_spans_are_recognized_where_the_first_text_has_none(tmp_path: Path) -> None:
    rows = [{"text": "nobody wrote", "label": []}, {"text": "Ada wrote", "label": [[0, 3, "PER"]]}]
    name = written(tmp_path, "spans.jsonl", [json.dumps(row) for row in rows])
    assert found(name, tmp_path).recipe == "my-tags"
    rows[1]["label"] = [[0.0, 3.0, "PER"]]  # refused when it is read, with the row
    assert (
        found(written(tmp_path, "floats.jsonl", [json.dumps(row) for row in rows]), tmp_path).recipe
        == "my-tags"
    )


def test_a_recipe_for_classes_reads_lists_of_one_label(tmp_path: Path) -> None:
    rows = [{"text": f"the note number {k} is short", "label": [label]} for k, label in enumerate("abab")]
    own = found(written(tmp_path, "lists.jsonl", [json.dumps(row) for row in rows]), tmp_path)
    assert own.recipe == "my-labels"
    learned = learned_by("my-texts", own)
    assert learned.note == "lists.jsonl: texts in “text”, one label a text in “label”; trained as my-texts"
    load_config(learned.recipe, learned.overrides)
    with pytest.raises(UsageError, match="my-numbers learns 'number' and not what the data holds"):
        learned_by("my-numbers", own)
    cells = written(
        tmp_path,
        "cells.csv",
        ["text,label", *(f"the note number {k} is short,a;b" for k in range(9)), "x y,b"],
    )
    with pytest.raises(UsageError, match="my-texts learns 'text' and not what the data holds"):
        learned_by("my-texts", own_file(cells, ['data.options.label_separator=";"'], tmp_path))


def test_several_labels_are_recognized_or_asked_for(tmp_path: Path) -> None:
    def rows(labels: list[str]) -> list[str]:
        return [
            "text,topics",
            *(f"the note number {k} is short,{label}" for k, label in enumerate(labels * 5)),
        ]

    known = found(written(tmp_path, "known.csv", rows(["a;b", "b;c", "a;c"])), tmp_path)
    assert known.recipe == "my-labels"
    assert "several labels a text in “topics” with “;” between them" in known.note
    open_one = written(tmp_path, "open.csv", rows(["a", "a", "a;b"]))
    with pytest.raises(
        UsageError, match=r"topics has ';' in 5 of 15 cells.*separator=.;.. learns several labels"
    ):
        own_file(open_one, [], tmp_path)
    assert found(open_one, tmp_path, 'data.options.label_separator=";"').recipe == "my-labels"


def test_columns_that_the_user_names(reviews: str, tmp_path: Path) -> None:
    assert found(reviews, tmp_path, 'data.label="mood"').recipe == "my-texts"
    with pytest.raises(
        UsageError, match=r"reviews\.csv: there is no column 'tone' for label; columns: review, mood"
    ):
        own_file(reviews, ['data.label="tone"'], tmp_path)


def test_a_column_of_weights_is_read(tmp_path: Path) -> None:
    name = written(tmp_path, "w.csv", ["review,mood,sure", *(f"{row},{k % 3}" for k, row in enumerate(ROWS))])
    named = ('data.label="mood"', 'data.options.weight="sure"')
    assert "not read: sure" in found(name, tmp_path, named[0]).note
    assert "not read" not in found(name, tmp_path, *named).note
    assert "not read: sure" in found(name, tmp_path, named[0], 'data.options.weight=["sure"]').note
    wide = [
        "review,mood," + ",".join(f"n{k}" for k in range(900)),
        *(f"{row}," + ",".join("1" * 900) for row in ROWS),
    ]
    said = found(written(tmp_path, "wide.csv", wide), tmp_path, named[0]).note
    assert "n19 and 880 more; trained as" in said


def test_a_file_without_a_header(tmp_path: Path) -> None:
    own = found(written(tmp_path, "bare.csv", ROWS), tmp_path, "data.options.header=false")
    assert own.overrides[1:] == ('data.text="1"', 'data.label="2"')


def test_tags(tmp_path: Path) -> None:
    lines = ["Ann\tB-PER", "sings\tO", "well\tO", "", "Bob\tB-PER", "sings\tO", "too\tO", ""] * 3
    assert found(written(tmp_path, "names.txt", lines), tmp_path).recipe == "my-tags"
    assert not looks_tagged(tmp_path / written(tmp_path, "plain.txt", ["a text of words", "", "one more"]))
    tokens = [json.dumps({"tokens": ["Ann", "sings"], "tags": ["B-PER", "O"]})] * 2
    assert found(written(tmp_path, "names.jsonl", tokens), tmp_path).recipe == "my-tags"
    spans = [json.dumps({"text": "Ann sings", "label": [[0, 3, "PER"]]})] * 2
    assert found(written(tmp_path, "spans.jsonl", spans), tmp_path).recipe == "my-tags"


def test_a_folder_of_classes_and_lines_of_fasttext(tmp_path: Path) -> None:
    for name in ("yes", "no"):
        (tmp_path / "mail" / name).mkdir(parents=True)
        for k in range(3):
            (tmp_path / "mail" / name / f"{k}.txt").write_text(f"letter {k} says that it is {name}")
    assert found("mail", tmp_path).overrides[1:] == ('data.text="text"', 'data.label="label"')
    lines = ["__label__a the first text here", "__label__b and the second one"] * 4
    assert found(written(tmp_path, "lines.ft", lines), tmp_path).recipe == "my-texts"


def test_what_is_data(reviews: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-texts").mkdir()
    written(tmp_path, "settings", ['name = "mine"'])
    assert is_own_file(reviews, None)
    assert is_own_file("missing.csv", None)
    assert not is_own_file("my-texts", tmp_path)
    assert not is_own_file("mine.toml", tmp_path)
    assert not is_own_file("settings", tmp_path)
    assert not is_own_file("disan-tre", tmp_path)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no rows"):
        own_file(written(tmp_path, "empty.csv", ["text,label"]), [], tmp_path)
    with pytest.raises(UsageError, match="neither a recipe nor data whose format is known"):
        own_file(written(tmp_path, "a.docx", ["some text"]), [], tmp_path)


@pytest.mark.parametrize(
    ("name", "recipe"),
    [
        ("banking77", "my-texts"),
        ("snips-slots", "my-tags"),
        ("stsb", "my-pair-numbers"),
        ("sick-r", "my-scores"),
    ],
)
def test_a_known_data_set_is_learned_by_the_recipe_for_own_data_of_its_kind(
    name: str, recipe: str, tmp_path: Path
) -> None:
    assert is_own_file(name, tmp_path)
    own = found(name, tmp_path)
    assert (own.recipe, own.overrides) == (recipe, (f"data.set={name}",))
    assert own.note.startswith(f"{name}: ")
    assert own.note.endswith(f"; trained as {recipe}")


def test_every_known_data_set_takes_the_options_that_its_recipe_brings(tmp_path: Path) -> None:
    known = [name for name in own_data_sets() if is_own_file(name, tmp_path)]
    assert {"snips-slots", "wnut17", "trec", "stsb"} <= {*known}
    for name in known:
        own = found(name, tmp_path)
        options = load_config(own.recipe, own.overrides).data.options
        for part in data_set(name).parts.values():
            assert {*options} <= {*inspect.signature(part.read).parameters}, name


def test_a_known_data_set_without_such_a_recipe_is_none(tmp_path: Path) -> None:
    assert not is_own_file("multi30k-en-de", tmp_path)


def test_a_folder_that_is_none_of_classes_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert is_own_file("notes", tmp_path)
    with pytest.raises(
        DataError, match="not one with a folder of text files for each class: it holds nothing"
    ):
        own_file("notes", [], tmp_path)


def test_a_title_is_not_taken_for_names_of_columns(tmp_path: Path) -> None:
    name = written(tmp_path, "survey.csv", ["Answers of 2024,", "text,label", *ROWS])
    with pytest.raises(
        UsageError, match=r"the first row has no name for 'column 2'\. If it is a title, delete"
    ):
        own_file(name, [], tmp_path)
    assert found(name, tmp_path, 'data.label="column 2"').recipe == "my-texts"
    indexed = written(tmp_path, "indexed.csv", [",text,label", *(f"{k},{row}" for k, row in enumerate(ROWS))])
    assert found(indexed, tmp_path).recipe == "my-texts", "only the columns that are read need a name"


def test_a_recipe_that_reads_other_data_says_what_to_do(tmp_path: Path) -> None:
    rows = [f"the note number {k} is short,{label}" for k, label in enumerate(["a/b", "b", "c/a"] * 5)]
    slashes = written(tmp_path, "slashes.csv", ["text,topics", *rows])
    labels = outputs_of("my-labels")
    with pytest.raises(UsageError, match=r"my-labels learns .*data.options.label_separator"):
        learned_by("my-labels", own_file(slashes, [], tmp_path, labels))
    own = own_file(slashes, ['data.options.label_separator="/"'], tmp_path, labels)
    assert learned_by("my-labels", own).recipe == "my-labels"
    assert outputs_of("my-texts-transformer") == ""


def test_a_table_in_one_json_object_is_no_row(tmp_path: Path) -> None:
    for table in (
        {"text": ["a b c", "d e f"], "label": ["x", "y"]},
        {"text": {"0": "a b"}, "label": {"0": "x"}},
    ):
        with pytest.raises(
            DataError, match="holds one JSON object, which would be one row; expected an array"
        ):
            found(written(tmp_path, "columns.json", [json.dumps(table)]), tmp_path)
