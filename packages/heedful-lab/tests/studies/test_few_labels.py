"""Few labels: ours alone in other settings, and the table of what was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful_lab.studies import few_labels

WORDS = {"good": ("fine", "lovely", "warm"), "bad": ("dull", "grim", "dreary")}
ROWS = [(f"a {word} film {n}", mood) for n in range(10) for mood, words in WORDS.items() for word in words]
TEXTS, MOODS = [text for text, _ in ROWS], [mood for _, mood in ROWS]


def test_ours_alone_learns_in_the_settings_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_labels, "load", lambda *_: ((TEXTS[:40], MOODS[:40]), (TEXTS[40:], MOODS[40:])))
    plain = ["text.vectors=", "model.sentence=none"]
    cell = few_labels.measure("cr", 30, 0, Path(), None, alone=True, settings=plain)
    assert cell["scores"] == {"Heedful": 100.0}
    assert cell["rows"] == 30
    assert "words and characters" in str(cell["parts"])
    less = few_labels.measure(
        "cr", 30, 0, Path(), None, alone=True, settings=[*plain, "model.wide=none", "train.max_steps=1"]
    )
    assert less["parts"] == ""


def test_the_table_names_the_best_other_system_where_there_is_one() -> None:
    def cell(**scores: float) -> dict[str, object]:
        return {"set": "cr", "labels": 50, "draw": 0, "scores": scores, "chance": 10.0}

    alone = list(few_labels.table([cell(Heedful=80.0)]))
    assert alone[0] == "cr 50 (1 draws): Heedful 80.0"
    both = list(few_labels.table([cell(Heedful=80.0, a=70.0, b=81.0), cell(Heedful=82.0, a=70.0, b=81.0)]))
    assert both[0].startswith("cr 50 (2 draws): +0.0 ")
    assert " to b | Heedful 81.0" in both[0]


def test_texts_of_other_kinds_have_the_labels_that_they_had() -> None:
    rows = ([f"one two three {word}" for word in TEXTS[:10]], MOODS[:10])
    for kind in ("letters", "notice", "long notice"):
        texts, labels = few_labels.of_kind(kind, rows, 0, training=True)
        assert labels == rows[1]
        assert len(set(texts)) == len(set(rows[0]))
        assert not set(texts) & set(rows[0])
    assert len(few_labels.of_kind("long notice", rows, 0, training=False)[0][0].split()) > 400
    texts, labels = few_labels.of_kind("copies", rows, 0, training=True)
    assert (texts[0], texts[5], labels) == (*rows[0][:2], [MOODS[0]] * 5 + [MOODS[1]] * 5)
    assert all(sum(map(str.__ne__, text.split(), texts[0].split())) <= 1 for text in texts[:5])
    assert few_labels.of_kind("copies", rows, 0, training=False) == rows
