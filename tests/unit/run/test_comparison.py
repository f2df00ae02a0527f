"""Two systems compared: studies by seed and fold, models by their answers, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.errors import ArtifactError, UsageError
from heedful.evaluation import mcnemar, paired_bootstrap, paired_seeds
from heedful.run.comparison import Run, compare, is_study, read_study
from heedful.run.kept_answers import Answers
from heedful.run.record import PartFigures, RunFigures, RunRecord, write_record
from heedful.storage.layout import FOLD, SEED, Varied, record_file
from made_runs import PROTOCOL

GOLD = np.array([0, 1, 1, 0, 2, 1, 0, 2, 1, 0])
NAMES = ("a", "b")


def record(number: int, predicted: np.ndarray, gold: np.ndarray = GOLD, key: str = SEED) -> RunRecord:
    metrics = {"accuracy": float(np.mean(predicted == gold)), "macro_f1": 0.5}
    figures = PartFigures(metrics, confusion={"x": {}, "y": {}, "z": {}})
    settings = {"model": {"task": "text"}}
    answered = Answers("classes", gold, predicted)
    return RunRecord(Varied(key, number), PROTOCOL, settings, RunFigures(figures, figures), answered)


def answers(seed: int, wrong: int) -> np.ndarray:
    found = GOLD.copy()
    places = np.random.default_rng(seed).choice(10, wrong, replace=False)
    found[places] = (found[places] + 1) % 3
    return found


def study(folder: Path, wrongs: dict[int, int], key: str = SEED) -> Path:
    folder.mkdir()
    for number, wrong in wrongs.items():
        kept = record(number, answers(number, wrong), key=key)
        write_record(record_file(folder, kept.varied), kept)
    return folder


def test_studies_are_paired_by_seed(tmp_path: Path) -> None:
    a = read_study(study(tmp_path / "a", {1: 5, 2: 4, 10: 5, 3: 3}))
    b = read_study(study(tmp_path / "b", {3: 2, 10: 3, 2: 4, 4: 1}))
    assert [run.varied for run in a] == [Varied(SEED, seed) for seed in (1, 2, 3, 10)]
    outcome = compare(NAMES, a, b)
    assert (outcome.runs, outcome.left_out) == (3, ("train.seed=1", "train.seed=4"))
    assert list(outcome.tests) == ["accuracy"]
    over_runs, over_examples = outcome.tests["accuracy"]
    assert over_runs == paired_seeds([0.6, 0.7, 0.5], [0.6, 0.8, 0.7])
    first = [answers(seed, wrong) for seed, wrong in ((2, 4), (3, 3), (10, 5))]
    second = [answers(seed, wrong) for seed, wrong in ((2, 4), (3, 2), (10, 3))]
    assert over_examples == paired_bootstrap("accuracy", GOLD, first, second)
    text = outcome.render()
    for part in (
        "A  a",
        "the other has none: train.seed=1, train.seed=4",
        "paired t-test, 3 runs",
        "+0.1000",
    ):
        assert part in text
    assert json.loads(json.dumps(outcome.as_dict()))["tests"]["accuracy"][0]["n"] == 3


def test_folds_are_put_one_after_the_other(tmp_path: Path) -> None:
    a, b = (
        read_study(study(tmp_path / name, wrongs, FOLD))
        for name, wrongs in (("a", {1: 5, 2: 4}), ("b", {1: 2, 2: 4}))
    )
    over_runs, over_examples, exact = compare(NAMES, a, b).tests["accuracy"]
    assert (exact.n, exact.p) == (20, mcnemar(*(np.concatenate(part) for part in _both_folds())).p)
    assert "training data" in over_runs.note
    assert (over_examples.n, over_examples.first, over_examples.second) == (20, 0.55, pytest.approx(0.7))


def _both_folds() -> list[list[np.ndarray]]:
    return [[GOLD, GOLD], [answers(1, 5), answers(2, 4)], [answers(1, 2), answers(2, 4)]]


def test_two_models_are_compared_example_by_example() -> None:
    first, second = (Run(None, {"accuracy": 0.0}, GOLD, answers(s, w)) for s, w in ((1, 6), (2, 1)))
    tests = compare(NAMES, [first], [second], resamples=200, seed=3).tests["accuracy"]
    assert tests == (
        paired_bootstrap("accuracy", GOLD, first.predicted, second.predicted, resamples=200, seed=3),
        mcnemar(GOLD, first.predicted, second.predicted),
    )


def test_the_interval_of_a_difference_is_shown() -> None:
    a, b = ([Run.of_record(record(1, answers(s, w)))] for s, w in ((1, 6), (2, 1)))
    outcome = compare(NAMES, a, b, resamples=200)
    assert f"95 % {outcome.tests['accuracy'][0].interval}" in outcome.render()


def test_runs_without_answers_are_compared_by_run_only(tmp_path: Path) -> None:
    a, b = (
        [Run(Varied(SEED, s), {"bleu": v + s}, np.empty(0), np.empty(0)) for s in (1, 2)]
        for v in (20.0, 21.5)
    )
    assert [test.test for test in compare(NAMES, a, b).tests["bleu"]] == ["paired t-test"]


def test_figures_that_no_test_fits_are_shown_without_one() -> None:
    a, b = ([Run(None, {"accuracy": 0.5, "chrf": value}, GOLD, GOLD)] for value in (0.25, 0.5))
    outcome = compare(NAMES, a, b, ["chrf"])
    (only,) = outcome.tests["chrf"]
    assert (only.difference, only.p, only.interval) == (0.25, None, None)
    assert "A 0.2500  B 0.5000  B - A +0.2500" in outcome.render()
    assert "one run each: nothing is known of the spread" in outcome.render()


def test_other_examples_are_refused(tmp_path: Path) -> None:
    a = read_study(study(tmp_path / "a", {1: 5}))
    changed = GOLD.copy()
    changed[3] = 2
    with pytest.raises(
        UsageError, match=r"a and b, train\.seed=1: gold differs in 1 of 10 .* number 4 \(0 and 2\)"
    ):
        compare(NAMES, a, [Run.of_record(record(1, answers(1, 1), changed))])
    with pytest.raises(UsageError, match="10 and 9 examples"):
        compare(NAMES, a, [Run.of_record(record(1, answers(1, 1)[1:], GOLD[1:]))])
    with pytest.raises(UsageError, match="share no seed"):
        compare(NAMES, a, [Run.of_record(record(2, answers(1, 1)))])
    with pytest.raises(UsageError, match="did you mean 'accuracy'"):
        compare(NAMES, a, a, ["acuracy"])
    with pytest.raises(UsageError, match="other classes"):
        compare(NAMES, a, [Run(Varied(SEED, 1), {"accuracy": 1.0}, GOLD, GOLD, ("x", "w", "z"))])


def test_seeds_that_were_tested_on_other_examples_are_refused() -> None:
    other = GOLD[::-1].copy()
    runs = [Run.of_record(record(seed, gold, gold)) for seed, gold in enumerate((GOLD, other), 1)]
    with pytest.raises(UsageError, match="tested on other examples"):
        compare(NAMES, runs, runs)


def test_a_file_that_is_no_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.seed=1.json").write_text("{}")
    (tmp_path / "train.seed=old.json").write_text("{}")
    assert is_study(tmp_path)
    with pytest.raises(ArtifactError, match=r"train\.seed=1\.json: expected a run that heedful study kept"):
        read_study(tmp_path)


def test_on_the_command_line(tmp_path: Path) -> None:
    a, b = study(tmp_path / "a", {1: 5, 2: 4}), study(tmp_path / "b", {1: 1, 2: 2})
    found = tiny.run(
        "compare", a, b, "--metric", "accuracy", "--metric", "macro_f1", "--resamples", 200, "--json"
    )
    assert found.json()["tests"].keys() == {"accuracy", "macro_f1"}
    assert "p = " in tiny.run("compare", a, b).out
    for arguments, message in (
        ((a, tmp_path / "nowhere"), "there is no such folder"),
        ((a, tmp_path), "--on SET:SPLIT"),
        ((a, b, "--on", "trec:test"), "--on and the options of its file are for two models"),
    ):
        result = tiny.run("compare", *arguments)
        assert (result.code, message in result.err) == (2, True), result.err


def test_two_models_answer_a_file(tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")
    words = ("train", data / "text.toml", "--data", data, "-q", "--set", "train.max_steps=2")
    for seed in (1, 2):
        assert tiny.run(*words, "--seed", seed, "--out", tmp_path / f"run{seed}").code == 0
    both = (tmp_path / "run1", tmp_path / "run2")
    found = tiny.run("compare", *both, "--on", data / "text-test.csv", "--resamples", 200, "--json").json()
    assert [test["test"] for test in found["tests"]["accuracy"]] == [
        "paired bootstrap, 200 resamples",
        "exact McNemar",
    ]
    result = tiny.run("compare", *both, "--on", data / "nothing.csv")
    assert (result.code, "nothing.csv" in result.err) == (3, True), result.err
