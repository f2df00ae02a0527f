"""The study that chooses how a student learns: it never reads a test part, and goes on where it was."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import tiny
from heedful_lab.studies import student_choices
from tiny_encoder import write_encoder

pytest.importorskip("transformers")


def test_ways_are_measured_on_dev_alone_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    encoder = write_encoder(tmp_path / "encoder")
    file = tiny.write_csv(tmp_path / "reviews.csv", tiny.texts()[:60], ["text", "label"])
    short = {"train.epochs": 1, "model.width": 8, "model.hidden": 8, "model.sentence": "none"}
    monkeypatch.setattr(student_choices, "WAYS", {"short": short, "copies": {"distil.augment": 1}})
    command = ["x", "--data", tmp_path, "--teacher", encoder, "--out", tmp_path / "out", "--sets", file]
    monkeypatch.setattr(sys, "argv", [*map(str, command), "--ways", "short,short + copies"])
    student_choices.main()
    said = capsys.readouterr().out
    assert "short: accuracy" in said
    assert "short + copies: accuracy" in said
    cells = (tmp_path / "out" / student_choices.CELLS).read_text().splitlines()
    assert len(cells) == 2
    assert 0 <= json.loads(cells[0])["accuracy"] <= 1
    for run in ("reviews-1-teacher", "reviews-1-short"):
        figures = json.loads((tmp_path / "out" / run / "model" / "metrics.json").read_text())
        assert figures["test"] is None
    student_choices.main()
    assert (tmp_path / "out" / student_choices.CELLS).read_text().splitlines() == cells
    texts = tmp_path / "pool.txt"
    texts.write_text("a film of this kind\nanother dull evening\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [*map(str, command), "--ways", "short", "--texts", str(texts)])
    student_choices.main()
    added = (tmp_path / "out" / student_choices.CELLS).read_text().splitlines()[2:]
    assert [json.loads(line)["way"] for line in added] == ["short, with pool"]
    settings = json.loads((tmp_path / "out" / "reviews-1-short-with-pool" / "config.json").read_text())
    assert Path(settings["distil"]["texts"]) == texts
