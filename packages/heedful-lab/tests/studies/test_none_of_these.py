"""The study of texts out of scope: which rows it draws, what it counts, and that it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful import TextClassifier
from heedful_lab.studies import none_of_these

FEW = {"text__vectors": "", "model__sentence": "none", "threads": 1}
STRANGE = ["quantum chromodynamics of heavy ions", "my bus pass expired last tuesday"] * 20
NOUNS = ("film", "song", "meal", "room", "story", "letter")
CLASSES = {"good": ("lovely", "superb"), "bad": ("dull", "awful"), "odd": ("strange", "curious")}
KNOWN = [
    (f"{say} the {noun} {was} {word}", label)
    for label, words in CLASSES.items()
    for word in words
    for noun in NOUNS
    for was in ("was", "is")
    for say in ("I think", "we say")
]


def part(name: str, split: str, data: Path) -> none_of_these.Rows:
    assert name == "clinc150"
    if split.startswith("none"):
        return STRANGE, ["oos"] * len(STRANGE)
    return [text for text, _ in KNOWN], [label for _, label in KNOWN]


def test_so_many_rows_of_each_class_are_drawn() -> None:
    rows = part("clinc150", "train", Path())
    texts, labels = none_of_these.of_each(rows, 5, 0)
    assert [labels.count(label) for label in CLASSES] == [5, 5, 5]
    assert [KNOWN.index(pair) for pair in zip(texts, labels, strict=True)] == sorted(
        map(KNOWN.index, zip(texts, labels, strict=True))
    )
    assert none_of_these.of_each(rows, 5, 0) == (texts, labels)
    assert none_of_these.of_each(rows, 5, 1) != (texts, labels)
    assert none_of_these.of_each(rows, 100, 0) == rows


def test_known_texts_that_are_rejected_are_wrong_and_strange_ones_are_recalled() -> None:
    model = TextClassifier(**FEW, model__task_options={"reject": 0.8})
    model.fit(*part("clinc150", "train", Path()), baseline=False)
    found = none_of_these.figures(
        model, ([text for text, _ in KNOWN], [label for _, label in KNOWN]), STRANGE
    )
    assert found["out_of_scope_recall"] == found["auroc"] == 1.0
    assert found["accuracy_if_always_answered"] == 1.0
    assert found["in_scope_accuracy"] == found["kept"]


def test_it_goes_on_and_prints_a_row_for_each_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = list[str]()

    def measure(
        way: str, data: Path, each: int, keep: float, seed: int, save: Path | None
    ) -> dict[str, float]:
        measured.append(way)
        names = ("in_scope_accuracy", "accuracy_if_always_answered", "kept", "out_of_scope_recall", "auroc")
        return dict.fromkeys(names, 0.5)

    monkeypatch.setattr(none_of_these, "measure", measure)
    out = tmp_path / "cells.json"
    command = ["--data", str(tmp_path), "--out", str(out), "--each", "3"]
    none_of_these.main(command)
    cells = json.loads(out.read_text(encoding="utf-8"))
    out.write_text(json.dumps(dict(list(cells.items())[:1])), encoding="utf-8")
    none_of_these.main(command)
    assert measured == ["without", "with", "with"]
    assert json.loads(out.read_text(encoding="utf-8")) == cells
    capsys.readouterr()
    none_of_these.main([*command, "--table"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[-1].count("50.0") == 4
    assert "with oos_train, 3 rows an intent, keep 0.95, seed 0" in lines[-1]


def test_both_ways_are_trained_from_the_parts_of_the_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = list[object]()

    class Few(TextClassifier):
        def __init__(self, **settings: object) -> None:
            super().__init__(**FEW, **settings)

        def fit(self, X: object, y: object, **more: object) -> Few:
            given.append(more["none_of_these"])
            super().fit(X, y, **more)
            return self

    monkeypatch.setattr(none_of_these, "known", part)
    monkeypatch.setattr(none_of_these, "TextClassifier", Few)
    for way in none_of_these.WAYS:
        found = none_of_these.measure(way, Path(), 20, 0.9, 0, tmp_path)
        assert found["rows"] == 60
        assert found["out_of_scope_recall"] > 0.9
        assert (tmp_path / way / "config.json").is_file()
    assert given == [None, STRANGE]
