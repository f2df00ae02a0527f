"""Several labels a text, or none: trained, saved, answered, measured and explained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

import heedful
import tiny
from heedful import MultiLabelClassifier
from heedful.errors import DataError, ExitCode, UsageError
from heedful.tasks import LabelsModel, load_model
from heedful.tasks.labels import HALF, best_threshold, best_thresholds, cheapest_threshold

WORDS = {"film": "art", "song": "art", "meal": "food", "soup": "food", "goal": "sport", "ball": "sport"}
FEW = {
    "model__encoder": "embedding",
    "model__pooling": "max",
    "model__width": 16,
    "model__hidden": 16,
    "model__dropout": 0.0,
    "train__epochs": 20,
    "train__optimizer__lr": 0.02,
    "train__device": "cpu",
}


def examples(count: int = 240) -> tuple[list[str], list[list[str]]]:
    """Texts of up to three words, and the topics of their words."""
    random = np.random.default_rng(0)
    words = [list(random.choice(list(WORDS), random.integers(0, 4), replace=False)) for _ in range(count)]
    texts = [" ".join(["this", *map(str, own)]) for own in words]
    return texts, [sorted({WORDS[str(word)] for word in own}) for own in words]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("labels")
    texts, labels = examples()
    for name, part in (("train", slice(0, 200)), ("test", slice(200, None))):
        rows = [(text, "; ".join(own)) for text, own in zip(texts[part], labels[part], strict=True)]
        tiny.write_csv(root / f"{name}.csv", rows, ["text", "label"])
    settings = {name.replace("__", "."): value for name, value in FEW.items()}
    settings |= {"data.train": "train.csv", "data.test": "test.csv", "data.options.label_separator": ";"}
    tiny.train_in(root, "my-labels", settings)
    return root


def test_a_file_with_a_separator_is_learned_and_measured(folder: Path) -> None:
    measured = tiny.run("evaluate", folder / "run", folder / "test.csv", "--json").json()
    assert list(measured["metrics"]) == ["micro_f1", "macro_f1", "subset_accuracy", "lrap"]
    assert measured["metrics"]["micro_f1"] > 0.9
    assert {"micro_f1", "subset_accuracy"} <= set(measured["intervals"])
    assert sorted(measured["per_class"]) == ["art", "food", "sport"]
    model = load_model(folder / "run")
    assert isinstance(model, LabelsModel)
    texts, labels = examples()
    answers = model.answer(texts[200:])
    right = [sorted(answer.labels) == own for answer, own in zip(answers, labels[200:], strict=True)]
    assert np.mean(right) == pytest.approx(measured["metrics"]["subset_accuracy"])


def test_simple_models_stand_beside_the_model(folder: Path) -> None:
    command = ["train", "my-labels", "--data", folder, "--out", folder / "beside", "--set=train.max_steps=2"]
    options = [
        "--set=data.train=train.csv",
        "--set=data.test=test.csv",
        "--set=data.options.label_separator=;",
    ]
    result = tiny.run(*command, *options, "--set=model.width=8")
    assert result.code == 0, result.err
    (line,) = [
        line for line in result.out.splitlines() if line.startswith("TF-IDF (words 1-2, characters 2-5)")
    ]
    assert float(line.split()[-3]) > 0.95  # of the test part


def test_the_commands_print_and_explain_labels(folder: Path) -> None:
    both = tiny.run("predict", folder / "run", "--text", "this film meal", "--json").json()
    assert sorted(both["labels"]) == ["art", "food"]
    assert set(both["probabilities"]) == {"art", "food", "sport"}
    none = tiny.run("predict", folder / "run", "--text", "this").out
    assert none.split("\t")[0] == "-"
    page = folder / "why.html"
    explained = tiny.run("explain", folder / "run", "--text", "this film meal", "--json", "--html", page)
    assert explained.json()["labels"] == ["art", "food", "sport"]
    assert "any number of labels" in (folder / "run/model/README.md").read_text(encoding="utf-8")


def test_an_estimator_takes_lists_and_matrices(tmp_path: Path) -> None:
    texts, labels = examples()
    model = MultiLabelClassifier(**FEW).fit(texts[:200], labels[:200])
    assert model.classes_.tolist() == ["art", "food", "sport"]
    assert model.score(texts[200:], labels[200:]) > 0.8
    matrix = np.array([[name in own for name in model.classes_] for own in labels], int)
    found = model.predict(texts[200:])
    assert f1_score(matrix[200:], found, average="micro") == pytest.approx(
        model.evaluate(texts[200:], labels[200:]).metrics["micro_f1"]
    )
    other = MultiLabelClassifier(**FEW).fit(texts[:200], matrix[:200])
    assert (other.predict(texts[200:]) == found).all()
    model.save_pretrained(tmp_path / "model")
    again = heedful.from_pretrained(tmp_path / "model")
    assert isinstance(again, MultiLabelClassifier)
    assert (again.predict(texts[200:]) == found).all()
    with pytest.raises(UsageError, match="indicator matrix of 3 columns, one a label, got 2"):
        again.score(texts[:3], matrix[:3, :2])
    with pytest.raises(DataError, match="target 2: expected 0 or 1"):
        again.score(texts[:2], np.array([[0, 1, 0], [0, 2, 0]]))


def test_json_may_hold_lists(tmp_path: Path) -> None:
    texts, labels = examples(60)
    rows = [json.dumps({"text": t, "label": own}) for t, own in zip(texts, labels, strict=True)]
    (tmp_path / "train.jsonl").write_text("\n".join(rows), encoding="utf-8")
    result = tiny.run(
        "train", "my-labels", "--data", tmp_path, "--out", tmp_path / "run", "--json",
        "--set=data.train=train.jsonl", "--set=train.max_steps=2", "--set=model.width=8",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "micro_f1" in result.json()["dev"]["metrics"]


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        (['{"text": "a", "label": [1]}'], "row 1, field 'label': expected labels with ',' between them"),
        (['{"text": "a", "label": ""}'] * 30, "no example has a label"),
        (['{"text": "a", "label": null}'], "row 1, field 'label': value is missing"),
    ],
)
def test_what_is_no_set_of_labels_is_refused(tmp_path: Path, rows: list[str], part: str) -> None:
    (tmp_path / "train.jsonl").write_text("\n".join(rows), encoding="utf-8")
    result = tiny.run(
        "train", "my-labels", "--data", tmp_path, "--out", tmp_path / "run", "--set=data.train=train.jsonl"
    )
    assert (result.code, result.out, result.err.count("\n")) == (ExitCode.BAD_DATA, "", 1), result
    assert part in result.err


def test_a_label_that_training_lacks_is_named_with_its_row_and_counts_as_missed(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tiny.write_csv(tmp_path / "other.csv", [("this film", "art"), ("this", "arts")], ["text", "label"])
    result = tiny.run("evaluate", folder / "run", tmp_path / "other.csv", "--json")
    assert result.code == 0, result.err
    assert "row 3: 1 examples have labels that training did not have, the first 'arts'" in caplog.text
    assert result.json()["per_class"]["arts"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "count": 1}
    assert result.json()["metrics"]["subset_accuracy"] <= 0.5


def test_the_threshold_has_the_best_f1() -> None:
    random = np.random.default_rng(1)
    probabilities, gold = random.random(50).round(1), random.random(50) < 0.3
    best = best_threshold(probabilities, gold)
    lowest = gold.mean() / (1 + gold.mean()) / 2
    answers = np.unique(probabilities >= np.linspace(lowest, 1, 1001)[:, None], axis=0)
    scores = [f1_score(gold, answer) for answer in answers]
    assert f1_score(gold, probabilities >= best) == pytest.approx(max(scores))
    assert best_threshold(probabilities, np.zeros(50, bool)) == HALF


def test_a_rare_label_that_nothing_predicts_is_not_answered_everywhere() -> None:
    probabilities, gold = np.full(200, 1e-4), np.zeros(200, bool)
    probabilities[:100], gold[[3, 40]] = 2e-4, True
    assert best_threshold(probabilities, gold) == HALF
    probabilities[3] = 0.2
    assert best_threshold(probabilities, gold) == pytest.approx(0.1, abs=1e-3)
    heavy = np.where(gold, 100.0, 1.0)
    assert best_threshold(probabilities, gold, heavy) == HALF, "half of the rows by weight have the label"


def test_labels_of_one_or_two_examples_share_a_threshold() -> None:
    """One by itself is as high as its only example, and answers hardly a new one."""
    random = np.random.default_rng(3)
    gold = np.zeros((60, 12), bool)
    for label in range(10):
        gold[[2 * label, 2 * label + 1], label] = True
    gold[:30, 10] = True
    probabilities = np.where(gold, random.uniform(0.1, 0.6, gold.shape), random.uniform(0.0, 0.1, gold.shape))
    weights = np.ones(60)
    found = best_thresholds(probabilities, gold, weights)
    assert len(set(found[:10])) == 1
    assert found[0] == best_threshold(probabilities[:, :10].ravel(), gold[:, :10].ravel())
    assert found[10] == best_threshold(probabilities[:, 10], gold[:, 10])
    assert found[11] == HALF, "no example has it"
    weights[[0, 1]] = 0.0
    assert best_thresholds(probabilities, gold, weights)[0] == HALF, "none that counts has it"


@pytest.mark.parametrize(("last", "row"), [([1, 0], 4), ([1, 0, 1, 1], 4)])
def test_an_indicator_matrix_of_uneven_width_names_the_row(last: list[int], row: int) -> None:
    with pytest.raises(DataError, match=rf"target {row}: expected an indicator matrix with 3 columns"):
        MultiLabelClassifier(**FEW).fit(["a", "b", "c", "d"], [[1, 0, 1]] * 3 + [last])


def test_the_threshold_by_cost_is_the_cheapest() -> None:
    random = np.random.default_rng(2)
    for dear in ((1.0, 1.0), (1.0, 10.0), (10.0, 1.0)):
        probabilities, gold = random.random(40).round(1), random.random(40) < 0.4

        best = cheapest_threshold(probabilities, gold, *dear)
        answered = probabilities >= np.array([best, *np.linspace(0, 1.1, 1101)])[:, None]
        costs = dear[0] * (answered & ~gold).sum(axis=1) + dear[1] * (~answered & gold).sum(axis=1)
        assert costs[0] == costs.min()
    assert cheapest_threshold(np.array([0.2, 0.9]), np.array([False, False]), 1, 1) > 0.9


def test_costs_decide_how_much_is_answered(tmp_path: Path) -> None:
    texts, labels = examples(120)
    few = {**FEW, "train__epochs": 2, "model__wide": "none", "model__sentence": "none"}
    found = []
    for costs in ({"false_positive": 50.0}, {"false_negative": 50.0}):
        model = MultiLabelClassifier(**few, model__task_options={"thresholds": "cost", **costs})
        model.fit(texts, labels, sample_weight=np.linspace(0.5, 2, len(texts)), baseline=False)
        told = [record["cost"] for record in model.result_.fit.history]
        assert model.result_.fit.best_metrics["cost"] == min(told)
        found.append(model.predict(texts).sum())
        model.save_pretrained(tmp_path / "model")
        assert heedful.from_pretrained(tmp_path / "model").predict(texts).sum() == found[-1]
    assert found[0] < found[1]
    with pytest.raises(UsageError, match="false_positive"):
        MultiLabelClassifier(**few, model__task_options={"false_positive": -1.0}).fit(texts, labels)
