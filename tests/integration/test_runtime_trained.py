"""Models that were really trained, read without torch."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.runtime import load
from heedful.tasks import Predictor, load_model


@pytest.mark.parametrize("task", ["text", "pair"])
def test_a_trained_model_answers_the_same(task: str, tmp_path: Path) -> None:
    tiny.write_tasks(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        where = ("--data", tmp_path, "--out", tmp_path / "run", "--no-baseline")
        trained = tiny.run("train", tmp_path / f"{task}.toml", *where)
    assert trained.code == 0, trained.err
    model, wanted = load(tmp_path / "run"), load_model(tmp_path / "run")
    assert isinstance(wanted, Predictor)
    name = {"text": "text-test.csv", "pair": "pair-test.tsv"}[task]
    with (tmp_path / name).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="," if task == "text" else "\t"))[1:]
    requests = [row[0] if task == "text" else tuple(row[:2]) for row in rows]
    assert len(requests) > 30
    logits = wanted.logits(requests)
    assert np.abs(logits - model.logits(requests)).max() <= 2e-6 * max(1.0, np.abs(logits).max())
    assert [each.label for each in wanted.answer(requests)] == [
        each.label for each in model.predict(requests)
    ]
