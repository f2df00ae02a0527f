"""The study of learning on: what its table says of what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful_lab.studies import learning_on

CELLS = {
    "trec, seed 0: at once": {"accuracy": 80.0, "processor_seconds": 10.0},
    "trec, seed 0: all kept": {"accuracy": 79.0, "processor_seconds": 5.0},
    "cr, seed 0: at once": {"accuracy": 70.0, "processor_seconds": 6.0},
    "cr, seed 0: all kept": {"accuracy": 70.0, "processor_seconds": 3.0},
    "cr, seed 1: all kept": {"accuracy": 1.0, "processor_seconds": 99.0},
    "trec, seed 0: a new class, a tenth kept": {"others_before": 80.0},
}


def test_a_way_is_compared_with_training_at_once_on_the_same_rows() -> None:
    *_, line = learning_on.table(CELLS)
    # two differences, -1 and 0: mean -0.5, standard error 0.5, and t of one degree of freedom is 12.71
    assert line == "| all kept | 2 | -0.50 | -6.85 to 5.85 | 0.50 |"


def test_the_table_alone_measures_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cells.json"
    file.write_text(json.dumps(CELLS))
    learning_on.main(["--data", str(tmp_path), "--out", str(file), "--table"])
    assert "| all kept | 2 |" in capsys.readouterr().out


def test_all_rows_that_are_kept_are_learned_in_installments(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("lovely", "superb", "fine"), ("dull", "awful", "grim")
    nouns, labels = ("film", "song", "meal", "room"), []
    texts = []
    for good, bad in zip(*words, strict=True):
        for noun in nouns:
            texts += [f"the {noun} was {good}", f"the {noun} was {bad}"]
            labels += ["good", "bad"]
    made = learning_on.kept
    monkeypatch.setattr(
        learning_on,
        "kept",
        lambda share, networks: made(share, networks).set_params(text__vectors="", model__sentence="none"),
    )
    found = learning_on.in_parts((texts, labels), (texts, labels), 2, 1.0, networks=False)
    assert found["accuracy"] > 80
    assert found["processor_seconds"] > 0
