"""The study of sets with a promise: what a split measures, and that it goes on where it stopped."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from heedful import TextClassifier
from heedful_lab.studies import promised_sets

FEW = {"text__vectors": "", "model__sentence": "none", "threads": 1}
NOUNS = ("film", "song", "meal", "room", "story", "letter", "garden", "journey")
TEXTS = [
    (f"{say} the {noun} {was} {word}", label)
    for label, words in {"good": ("lovely", "superb", "warm"), "bad": ("dull", "awful", "grim")}.items()
    for word in words
    for was in ("was", "is")
    for noun in NOUNS
    for say in ("I think", "we say")
]
ROWS = [(text, label if zlib.crc32(text.encode()) % 6 else "bad") for text, label in TEXTS]
"""Some labels are wrong, so that sets of two are needed."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    class Few(TextClassifier):
        def __init__(self, **settings: object) -> None:
            super().__init__(**FEW, **settings)

    rows = [text for text, _ in ROWS], [label for _, label in ROWS]
    monkeypatch.setattr(promised_sets, "TextClassifier", Few)
    monkeypatch.setattr(promised_sets, "load_set", lambda name, data: (rows, rows))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("held_out", [0.0, 0.3])
def test_a_split_measures_each_way_of_making_sets(held_out: float) -> None:
    wide = promised_sets.measure("any", 1, Path(), 120, 150, 0.95, held_out)
    assert {name.split()[0] for name in wide} == {"lac", "aps", "raps", "accuracy"}
    for method in ("lac", "aps", "raps"):
        assert 0.85 <= wide[f"{method} coverage"] <= 1
        assert 1 <= wide[f"{method} size"] <= 2
        assert wide[f"{method} coverage"] >= wide["accuracy"]
    narrow = promised_sets.measure("any", 1, Path(), 120, 150, 0.3, held_out)
    assert narrow["lac size"] < wide["lac size"]
    assert narrow["accuracy"] == wide["accuracy"]
    assert promised_sets.measure("any", 2, Path(), 120, 150, 0.95, held_out) != wide


def test_it_goes_on_and_the_table_has_the_mean_and_the_least(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = list[tuple[str, int]]()

    def measure(name: str, split: int, *settings: object) -> dict[str, float]:
        asked.append((name, split))
        found = {f"{each} coverage": 0.8 + 0.1 * split for each in ("lac", "aps", "raps")}
        return {**found, **{f"{each} size": 1.5 for each in ("lac", "aps", "raps")}, "accuracy": 0.75}

    monkeypatch.setattr(promised_sets, "measure", measure)
    out = tmp_path / "cells.json"
    command = ["--data", str(tmp_path), "--out", str(out), "--sets", "cr", "trec", "--splits", "2"]
    promised_sets.main(command)
    assert asked == [("cr", 0), ("trec", 0), ("cr", 1), ("trec", 1)]
    cells = json.loads(out.read_text(encoding="utf-8"))
    out.write_text(json.dumps(dict(list(cells.items())[:3])), encoding="utf-8")
    asked.clear()
    promised_sets.main(command)
    assert asked == [("trec", 1)]
    capsys.readouterr()
    promised_sets.main([*command, "--table"])
    _, _, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(
        "| cr, 300 rows, 1000 tests of all, coverage 0.9, held out 0 | 2 | 75.0 | 85.0 (80.0) | 1.50 |"
    )
    assert second.startswith("| trec, ")
