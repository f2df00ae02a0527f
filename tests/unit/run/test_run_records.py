"""The record of a run: written and read, and taken over from Heedful 0.1."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful.errors import ArtifactError
from heedful.run.kept_answers import Answers
from heedful.run.kept_settings import plain_settings
from heedful.run.protocol import protocol_of
from heedful.run.recipe_files import load_config
from heedful.run.record import PartFigures, RunFigures, RunRecord, read_record, write_record
from heedful.run.run_config import DataConfig
from heedful.storage.layout import FOLD, SEED, Varied, holds_study, record_files
from heedful.tasks.prepared import Protocol

CLASSES = Answers("classes", np.array([0, 2, 1]), np.array([0, 1, 1]))
PART = PartFigures(
    {"accuracy": 2 / 3}, 3, by_length={"0-5": {"accuracy": 0.5, "count": 2}}, notes={"empty": 1}
)


def record(answers: Answers | None = CLASSES, **changes: Any) -> RunRecord:
    figures = RunFigures(
        PART,
        PART,
        parameters=7,
        best_step=3,
        epochs=2,
        epoch_seconds=1.5,
        kernels={"a": "b"},
        dev_by_epoch={"0.5": 0.6, "1": 0.7},
    )
    settings = plain_settings(load_config("disan-trec", ["train.seed=3"]))
    made = RunRecord(
        Varied(SEED, 3),
        Protocol("splits", "cut", "train", dev_fraction=0.1, cut_seed=3),
        settings,
        figures,
        answers,
        {"f": "0" * 64},
        {"torch": "2"},
        100,
    )
    return replace(made, **changes)


@pytest.mark.parametrize(
    "answers",
    [
        None,
        CLASSES,
        Answers("right", np.ones(3, np.int64), np.array([1, 0, 1])),
        Answers("scores", np.array([1.5, 2.0]), np.array([1.25, 3.1234])),
        Answers("counts", np.array([3, 1]), np.array([2, 1])),
    ],
)
def test_what_is_written_is_read_again(tmp_path: Path, answers: Answers | None) -> None:
    kept, file = record(answers), tmp_path / "train.seed=3.json"
    write_record(file, kept)
    read = read_record(file)
    assert replace(read, answers=None) == replace(kept, answers=None)
    if answers is None:
        assert read.answers is None
        return
    assert read.answers is not None
    assert read.answers.kind == answers.kind
    for ours, theirs in ((read.answers.gold, answers.gold), (read.answers.predicted, answers.predicted)):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


def test_scores_are_kept_to_four_digits_and_gold_labels_can_be_left_out() -> None:
    scores = Answers("scores", np.array([1.0]), np.array([0.123456]))
    assert scores.as_dict()["predicted"] == [0.1235]
    assert scores.without_gold() is None
    right = CLASSES.without_gold()
    assert right is not None
    assert (right.kind, right.predicted.tolist()) == ("right", [1, 0, 1])
    assert "gold" not in right.as_dict()


@pytest.mark.parametrize(
    "broken",
    [
        {"version": 99},
        {"varied": "train.lr=1"},
        {"protocol": {"origin": "splits"}},
        {"figures": {}},
        {"figures": {"dev": [], "test": {}}},
        {"answers": {"kind": "words", "predicted": []}},
        {"settings": None, "data": None},
    ],
)
def test_a_file_that_is_no_record_is_named(tmp_path: Path, broken: dict[str, Any]) -> None:
    file = tmp_path / "train.seed=3.json"
    file.write_text(json.dumps({**record().as_dict(), **broken}))
    with pytest.raises(ArtifactError, match=r"train\.seed=3\.json: expected a run that heedful study kept"):
        read_record(file)


def test_a_figure_is_found_by_its_path() -> None:
    kept = record()
    paths = ("parameters", "peak_megabytes", "test.metrics.accuracy", "dev.by_length.0-5.count")
    assert [kept.figure(path) for path in paths] == [7.0, 100.0, 2 / 3, 2.0]
    lacking = (
        "train.metrics.accuracy",
        "test.metrics.f1",
        "test.by_length.6-10.accuracy",
        "epoch_cpu_seconds",
    )
    assert [kept.figure(path) for path in lacking] == [None] * 4


def test_the_protocol_follows_from_the_settings() -> None:
    cases = {
        Protocol("generated", "dev", dev="dev"): DataConfig(set="scenes"),
        Protocol("folds", "cut", dev_fraction=0.1, cut_seed=5, folds=10, fold=3): DataConfig(
            set="cr", fold=3
        ),
        Protocol("splits", "test", "train"): DataConfig(set="trec", protocol="paper"),
        Protocol("splits", "dev", "train", "dev"): DataConfig(set="sst-5"),
        Protocol("splits", "dev", "train", "test", "dev", 9): DataConfig(
            set="sst-5", test="dev", dev="test", train_limit=9
        ),
        Protocol("files", "cut", test="", dev_fraction=0.2, cut_seed=5): DataConfig(
            train="t", dev_fraction=0.2
        ),
    }
    for expected, data in cases.items():
        assert protocol_of(data, 5) == expected
    folds = protocol_of(DataConfig(set="cr", fold=3), 5)
    assert "fold 3 of 10" in folds.sentence()
    assert "each of 10 folds" in folds.of_all_runs().sentence()
    assert asdict(folds.of_all_runs()) == {**asdict(folds), "fold": 0, "cut_seed": None}


def test_records_come_in_the_order_of_their_seeds(tmp_path: Path) -> None:
    assert not holds_study(tmp_path)
    names = [f"{SEED}=10", f"{SEED}=2", f"{FOLD}=3", f"{SEED}=old", "notes"]
    for name in names:
        (tmp_path / f"{name}.json").touch()
    assert [path.stem for path in record_files(tmp_path)] == [f"{FOLD}=3", f"{SEED}=2", f"{SEED}=10"]
    assert holds_study(tmp_path)
