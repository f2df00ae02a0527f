"""Figures of label columns: one evaluation a column, over the rows that have a class of it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from heedful.evaluation.column_report import column_metrics, evaluate_label_columns

PLACES = {"mood": np.array([0, 1]), "topic": np.array([2, 3, 4])}
LABELS = ("mood: a", "mood: b", "topic: x", "topic: y", "topic: z")


def flags(moods: list[int], topics: list[int]) -> np.ndarray:
    found = np.zeros((len(moods), 5), bool)
    for row, (mood, topic) in enumerate(zip(moods, topics, strict=True)):
        found[row, [each for each in (mood, topic + 2 if topic >= 0 else -1) if each >= 0]] = True
    return found


def test_each_column_has_its_own_figures() -> None:
    draw = np.random.default_rng(0)
    moods, topics = draw.integers(0, 2, 60).tolist(), draw.integers(-1, 3, 60).tolist()  # -1: no class
    said = draw.integers(0, 2, 60).tolist(), draw.integers(0, 3, 60).tolist()
    found = column_metrics(flags(moods, topics), flags(*said), PLACES)
    rows = [row for row, topic in enumerate(topics) if topic >= 0]
    own = [topics[row] for row in rows], [said[1][row] for row in rows]
    assert found["accuracy: mood"] == pytest.approx(accuracy_score(moods, said[0]))
    assert found["accuracy: topic"] == pytest.approx(accuracy_score(*own))
    assert found["macro_f1: topic"] == pytest.approx(f1_score(*own, average="macro"))
    cells = sum(a == b for a, b in zip(moods, said[0], strict=True)) + sum(
        a == b for a, b in zip(*own, strict=True)
    )
    assert found["micro_f1"] == pytest.approx(cells / (60 + len(rows)))
    report = evaluate_label_columns(flags(moods, topics), flags(*said), LABELS, PLACES)
    assert report.metrics == found
    assert "lrap" not in report.metrics
    assert report.per_class["topic: z"]["count"] == topics.count(2)


def test_a_column_without_gold_has_no_figures() -> None:
    found = column_metrics(flags([0, 1], [-1, -1]), flags([0, 0], [1, 2]), PLACES)
    assert found["accuracy: mood"] == found["micro_f1"] == 0.5
    assert "accuracy: topic" not in found
