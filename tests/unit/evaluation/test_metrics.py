"""Metrics by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_recall_fscore_support

from heedful.evaluation import classification_metrics, evaluate_classes, evaluate_scores, relatedness_metrics
from heedful.evaluation.metrics import class_scores


def test_accuracy_and_macro_f1_by_hand() -> None:
    found = classification_metrics(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    assert found["accuracy"] == 0.75
    assert found["macro_f1"] == pytest.approx((2 / 3 + 0.8) / 2)


@pytest.mark.parametrize("seed", range(20))
def test_figures_of_classes_are_those_of_scikit_learn(seed: int) -> None:
    draw = np.random.default_rng(seed)
    classes, count = draw.integers(1, 9), draw.integers(1, 60)
    gold, predicted = draw.integers(0, classes, (2, count))
    gold[0] = seed % 2 * 20  # once a class that nobody asks for
    times = None if seed % 3 else draw.integers(0, 4, count)
    if times is not None:
        times[-1] = 1
    found = classification_metrics(gold, predicted, times)
    expected = f1_score(gold, predicted, average="macro", zero_division=0.0, sample_weight=times)
    assert found["macro_f1"] == expected
    asked = np.arange(classes)
    theirs = precision_recall_fscore_support(
        gold, predicted, labels=asked, zero_division=0.0, sample_weight=times
    )
    for own, other in zip(class_scores(gold, predicted, asked, times), theirs, strict=True):
        assert own.tolist() == other.tolist()


def test_relatedness_by_hand() -> None:
    found = relatedness_metrics(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))
    assert found["pearson"] == pytest.approx(0.8)
    assert found["spearman"] == pytest.approx(0.8)
    assert found["mse"] == pytest.approx(0.5)


def test_constant_prediction_has_no_correlation() -> None:
    found = relatedness_metrics(np.array([1.0, 2.0]), np.array([3.0, 3.0]))
    assert found == {"pearson": 0.0, "spearman": 0.0, "mse": 2.5}


def test_report_by_class_and_group() -> None:
    report = evaluate_classes(
        np.array([0, 0, 1]),
        np.array([0, 1, 1]),
        ("no", "yes"),
        groups=["a", "b", "b"],
        notes={"texts cut": 2, "empty texts": 0},
    )
    assert report.confusion == {"no": {"no": 1, "yes": 1}, "yes": {"no": 0, "yes": 1}}
    assert report.per_class["no"] == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "count": 2}
    assert report.by_group["b"] == {"accuracy": 0.5, "macro_f1": pytest.approx(1 / 3), "count": 2}
    text = report.render()
    for part in ("accuracy 0.6667", "(3 examples", "2 texts cut", "yes"):
        assert part in text
    assert "empty texts" not in text


def test_report_of_scores() -> None:
    report = evaluate_scores(np.array([1.0, 5.0]), np.array([1.0, 4.0]))
    assert report.metrics["pearson"] == pytest.approx(1.0)
    assert report.metrics["mse"] == 0.5


def test_scores_by_group_and_those_without_one() -> None:
    scores = np.array([1.0, 2.0, 3.0, 5.0]), np.array([1.0, 2.0, 3.0, 3.0])
    report = evaluate_scores(*scores, groups=["news", "news", "", ""])
    found = {name: (row["count"], row["mse"]) for name, row in report.by_group.items()}
    assert found == {"news": (2, 0.0), "(none)": (2, 2.0)}


def test_a_young_model_that_predicts_nearly_one_score_for_all_warns_of_nothing() -> None:
    predicted = 3 + np.array([1.0, 2.0, 3.0]) * 1e-14
    assert 0 < relatedness_metrics(np.array([1.0, 2.0, 3.0]), predicted)["pearson"] <= 1
