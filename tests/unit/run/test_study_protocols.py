"""Studies over folds and by the papers' own protocol, and what is kept of their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from heedful.errors import UsageError
from heedful.run.studies import Study, run_study
from heedful.training.progress import Silent

EXAMPLES, FOLDS = 31, 3
"""Folds of 10, 10 and 11 examples."""


def study_of_folds(root: Path, only: int) -> Study:
    folder = tiny.write_polarity(root / "data", EXAMPLES)
    return run_study(
        str(folder / "polarity.toml"),
        root / "study",
        folder,
        folds=FOLDS,
        only=only,
        overrides=["train.max_steps=1", "train.device=cpu"],
    )


def kept(root: Path, varied: str) -> dict[str, Any]:
    """Read a run that a study kept."""
    found: dict[str, Any] = json.loads((root / "study" / f"{varied}.json").read_text(encoding="utf-8"))
    return found


def test_folds_are_run_as_far_as_asked(tmp_path: Path) -> None:
    study = study_of_folds(tmp_path, only=2)
    assert [str(run.varied) for run in study.runs] == ["data.fold=1", "data.fold=2"]
    answers = [kept(tmp_path, f"data.fold={fold}")["answers"] for fold in (1, 2)]
    assert [len(each["gold"]) for each in answers] == [10, 10]
    assert (study.protocol.fold, study.protocol.folds) == (0, 3)
    assert "each of 3 folds in turn (shuffle seed 0) is the test split" in study.protocol.sentence()


def test_without_a_number_all_folds_are_run(tmp_path: Path) -> None:
    assert [run.figures.test.count for run in study_of_folds(tmp_path, only=0).runs] == [10, 10, 11]


def test_more_folds_than_there_are_cannot_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--only 4: there are 3 folds to choose from"):
        study_of_folds(tmp_path, only=4)


def test_scores_are_kept_to_four_digits(tmp_path: Path) -> None:
    folder = tiny.write_tasks(tmp_path / "data")
    settings = ["train.max_steps=1", "train.device=cpu"]
    run_study(str(folder / "score.toml"), tmp_path / "study", folder, seeds=[1], overrides=settings)
    scores = kept(tmp_path, "train.seed=1")["answers"]["predicted"]
    assert scores == [round(score, 4) for score in scores]
    assert scores != [round(score, 3) for score in scores]


class Heard(Silent):
    """Hears the accuracy of each evaluation."""

    def __init__(self) -> None:
        self.accuracies: list[float] = []

    def evaluation(self, record: Mapping[str, Any]) -> None:
        """Keep it."""
        self.accuracies.append(record["accuracy"])


def test_the_papers_protocol_reports_the_best_evaluation_on_the_test_part(tmp_path: Path) -> None:
    folder, heard = tiny.write_tasks(tmp_path / "data"), Heard()
    settings = ["train.max_steps=6", "train.evaluate_every=1", "train.device=cpu", "data.protocol=paper"]
    (run,) = run_study(
        str(folder / "text.toml"),
        tmp_path / "study",
        folder,
        seeds=[1],
        overrides=[*settings, "train.optimizer.lr=0.5"],  # so much that the last evaluation is not the best
        reporter=heard,
    ).runs
    assert heard.accuracies[-1] < max(heard.accuracies)
    assert run.figures.test == run.figures.dev
    assert run.figures.test.metrics["accuracy"] == max(heard.accuracies)
    answers = kept(tmp_path, "train.seed=1")["answers"]
    right = np.equal(answers["gold"], answers["predicted"])
    assert right.mean() == pytest.approx(max(heard.accuracies))
