"""Metrics by hand."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.evaluation import classification_metrics, evaluate_classes, evaluate_scores, relatedness_metrics


def test_accuracy_and_macro_f1_by_hand() -> None:
    found = classification_metrics(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    assert found["accuracy"] == 0.75
    assert found["macro_f1"] == pytest.approx((2 / 3 + 0.8) / 2)


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
