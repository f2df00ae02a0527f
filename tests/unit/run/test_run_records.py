"""The record of a run: written and read, and taken over from Heedful 0.1."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from heedful.errors import ArtefactError
from heedful.run.kept_answers import Answers
from heedful.run.kept_settings import plain_settings
from heedful.run.protocol import Protocol, protocol_of
from heedful.run.recipe_files import load_config
from heedful.run.record import PartFigures, RunFigures, RunRecord, read_record, write_record
from heedful.run.run_config import DataConfig
from heedful.storage.layout import FOLD, SEED, Varied, holds_study, record_file, record_files

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


def first_version(kept: RunRecord) -> dict[str, Any]:
    """Return the plain values by which Heedful 0.1 kept a run."""
    answers = {} if kept.answers is None else kept.answers.as_dict()
    return {
        "summary": kept.summary(),
        "protocol": "a sentence that nobody reads",
        "settings": kept.settings,
        "answers": {name: values for name, values in answers.items() if name != "kind"},
        "data": kept.data,
        "machine": kept.machine,
        "peak_megabytes": kept.peak_megabytes,
    }


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
    ("task", "answers", "kind"),
    [
        ("text", CLASSES, "classes"),
        ("text", Answers("classes", np.array([1, 1]), np.array([1, 0])), "right"),
        ("relatedness", Answers("scores", np.array([1, 5]), np.array([1, 4])), "scores"),
        ("roles", Answers("counts", np.array([1, 1]), np.array([1, 0])), "counts"),
        ("text", None, None),
    ],
)
def test_a_run_of_the_first_version_is_read(
    tmp_path: Path, task: str, answers: Answers | None, kind: str | None
) -> None:
    kept, file = record(answers), tmp_path / "train.seed=3.json"
    kept.settings["model"]["task"] = task
    plain = first_version(kept)
    del plain["settings"]["data"]["length_share"]  # a setting that came later
    file.write_text(json.dumps(plain))
    read = read_record(file)
    assert (read.answers.kind if read.answers else None) == kind
    assert (read.varied, read.protocol, read.figures) == (kept.varied, kept.protocol, kept.figures)
    assert (read.peak_megabytes, read.peak_gpu_megabytes, read.task) == (100, None, task)


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
    with pytest.raises(ArtefactError, match=r"train\.seed=3\.json: expected a run that heedful study kept"):
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


def test_one_command_converts_the_runs_of_a_folder(tmp_path: Path) -> None:
    study = tmp_path / "runs" / "standard" / "trec" / "disan"
    study.mkdir(parents=True)
    old, new = record(), record(varied=Varied(SEED, 4))
    record_file(study, old.varied).write_text(json.dumps(first_version(old)))
    write_record(record_file(study, new.varied), new)
    told = tiny.run("reproduce", "--convert", tmp_path)
    assert told.code == 0, told.err
    assert "1 runs converted, 1 " in told.out
    assert json.loads(record_file(study, old.varied).read_text()) == old.as_dict()
    assert tiny.run("reproduce", "--convert", tmp_path / "nowhere").code == 2
    assert tiny.run("reproduce", "mtsa-table5", "--convert", tmp_path).code == 2
    record_file(study, old.varied).write_text("{}")
    assert tiny.run("reproduce", "--convert", tmp_path).code == 5
