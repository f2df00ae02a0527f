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
