"""Sets and intervals with a promise, from training to the answer: Python, command line, and without torch."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import heedful
from heedful import MultiLabelClassifier, TextClassifier, TextScorer
from heedful.errors import DataError, UsageError
from heedful.model.decisions import Wish
from heedful.runtime import load
from tiny import run, texts, write_csv

FEW = {"text__vectors": "", "model__sentence": "none", "threads": 1}
NEW = ["a lovely film", "the awful song is fine", "nothing known", ""]


@pytest.fixture(scope="module")
def data() -> tuple[list[str], list[str]]:
    rows = texts()[:120]
    # every seventh label is wrong, so that sets of two are needed
    wrong = {"pos": "neg", "neg": "pos"}
    return [text for text, _ in rows], [wrong[c] if k % 7 == 0 else c for k, (_, c) in enumerate(rows)]


@pytest.fixture(scope="module")
def fitted(data) -> TextClassifier:
    return TextClassifier(**FEW).fit(*data, baseline=False)


@pytest.fixture(scope="module")
def folder(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("sets") / "model"
    fitted.save_pretrained(path)
    return path


def test_sets_of_an_estimator_and_without_torch_are_alike(fitted, folder) -> None:
    sets = fitted.predict(NEW, coverage=0.95)
    assert all(0 < len(each) <= 2 for each in sets)
    assert any(len(each) == 2 for each in sets)
    for method in ("lac", "aps", "raps"):
        wish = Wish(0.9, method, by_class=True)
        own = [answer.prediction_set for answer in fitted.promised(NEW, 0.9, method=method, by_class=True)]
        assert own == [answer.prediction_set for answer in load(folder).promising(wish).predict(NEW)]
    read = heedful.from_pretrained(folder)
    assert read.predict(NEW, coverage=0.95) == sets
    assert all("prediction_set" not in answer.as_dict() for answer in load(folder).predict(NEW))


def test_larger_coverage_gives_larger_sets(fitted) -> None:
    sizes = [sum(map(len, fitted.predict(NEW, coverage=share))) for share in (0.3, 0.9, 0.97)]
    assert sizes == sorted(sizes)


def test_predict_prints_sets_and_what_they_assume(folder, tmp_path) -> None:
    found = run("predict", folder, "a lovely film", "nothing known", "--coverage", "0.95")
    assert found.code == 0, found.err
    assert "exchangeable rows" in found.err
    assert "0.9 is proved" in found.err
    assert all(line.split("\t")[-1] for line in found.out.splitlines())
    as_json = run("predict", folder, "a lovely film", "--coverage", "0.95", "--json")
    assert json.loads(as_json.out)["prediction_set"]
    out = tmp_path / "found.csv"
    assert run("predict", folder, "a lovely film", "--coverage", "0.9", "--output", out).code == 0
    assert "set" in next(csv.reader(out.read_text().splitlines()))


def test_evaluate_prints_coverage_size_and_classes(folder, data, tmp_path) -> None:
    file = write_csv(tmp_path / "new.csv", list(zip(*data, strict=True)), ["text", "label"])
    columns = ("--column", "text=text", "--column", "label=label")
    found = run("evaluate", folder, file, *columns, "--coverage", "0.9", "--sets", "aps", "--by-class")
    assert found.code == 0, found.err
    assert "coverage" in found.out
    assert "mean size" in found.out
    assert "exchangeable rows" in found.out
    sets = run("evaluate", folder, file, *columns, "--coverage", "0.9", "--json").json()["sets"]
    assert sets["count"] == 120
    assert set(sets["by_class"]) == {"pos", "neg"}
    held = [
        c in s
        for c, s in zip(data[1], heedful.from_pretrained(folder).predict(data[0], coverage=0.9), strict=True)
    ]
    assert sets["coverage"] == pytest.approx(np.mean(held))


def test_rows_set_aside_are_not_trained_on_and_calibrate(data) -> None:
    model = TextClassifier(**FEW, model__task_options={"held_out": 0.25}).fit(*data, baseline=False)
    held = model.predictor.held_scores
    assert held is not None
    assert held.source == "held_out"
    assert 25 <= len(held.gold) <= 35
    promise = model.predictor.promise_of(Wish(0.9))
    assert "set aside" in promise.sentence()
    assert "at least 0.9" in promise.sentence()
    assert promise.rows == len(held.gold)
    again = TextClassifier(**FEW, model__task_options={"held_out": 0.25}).fit(*data, baseline=False)
    assert np.array_equal(again.predictor.held_scores.logits, held.logits)


def test_a_network_with_a_dev_split_needs_rows_set_aside(data) -> None:
    small = {"model__width": 8, "model__hidden": 8, "train__epochs": 1, "train__least_steps": 1}
    network = {**FEW, **small, "data__few_rows": 0, "model__wide": "none"}
    model = TextClassifier(**network, model__task_options={"held_out": 0.2}).fit(*data, baseline=False)
    assert model.predict(NEW, coverage=0.8)
    model.predictor.about = replace(model.predictor.about, metrics={})  # as without rows that were set aside
    with pytest.raises(UsageError, match=r"held_out=0\.1"):
        model.predict(NEW, coverage=0.8)


def test_numbers_have_intervals_also_large_ones() -> None:
    rows = [text for text, _ in texts()[:80]]
    prices = [300_000.0 + 1_000.0 * len(text) for text in rows]
    model = TextScorer(**FEW).fit(rows, prices, baseline=False)
    ends = model.predict(rows, coverage=0.9)
    assert ends.shape == (80, 2)
    assert np.isfinite(ends).all()
    assert ((ends[:, 0] <= prices) & (prices <= ends[:, 1])).mean() >= 0.9
    assert np.allclose(ends.mean(axis=1), model.predict(rows))


def test_several_labels_have_a_set_that_misses_few() -> None:
    rows = [text for text, _ in texts()[:100]]
    words = {"film": "film", "bad": "awful", "good": "fine"}
    names = [[name for name, word in words.items() if word in text] or ["other"] for text in rows]
    model = MultiLabelClassifier(**FEW).fit(rows, names, baseline=False)
    sets = model.predict(rows, coverage=0.9)
    missed = [1 - len(set(a) & set(b)) / len(b) for a, b in zip(sets, names, strict=True)]
    assert np.mean(missed) <= 0.1


@pytest.mark.parametrize("coverage", [0, 1, -0.5, 2, float("nan"), "0.9", True])
def test_a_coverage_out_of_range_is_refused(fitted, coverage) -> None:
    with pytest.raises(UsageError, match="above 0 and below 1"):
        fitted.predict(NEW, coverage=coverage)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--coverage", "1"], "above 0 and below 1"),
        (["--coverage", "0.9999"], "takes at least 9,999 rows"),
        (["--by-class"], "add --coverage"),
        (["--sets", "aps"], "add --coverage"),
        (["--coverage", "0.9", "--jobs", "1"], "not for many files"),
    ],
)
def test_wrong_options_are_refused_in_one_line(folder, options, said) -> None:
    found = run("predict", folder, "a text", *options)
    assert found.code == 2
    assert said in found.err
    assert len(found.err.splitlines()) == 1


def test_setting_all_rows_aside_is_refused(data) -> None:
    with pytest.raises(UsageError, match="held_out"):
        TextClassifier(**FEW, model__task_options={"held_out": 1.0}).fit(*data)


def test_too_few_rows_to_set_some_aside_are_refused() -> None:
    with pytest.raises(DataError, match="too few to set aside"):
        TextClassifier(**FEW, model__task_options={"held_out": 0.5}).fit(["a b", "c d"], ["x", "y"])
