"""One class of each label column: probabilities of a column sum to 1, and the best of each is answered."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.explain.explained_value import ExplainedValue, probability
from heedful.model.answers import Read
from heedful.model.decisions import LabelColumnsDecision
from heedful.model.decisions.label_columns import column_of, column_places, label_of

NAMES = ("mood: glad", "topic: a: b", "mood: sad", "topic: c", "topic: d")
DECISION = LabelColumnsDecision(NAMES)
ROWS = np.array([[0.5, 3.0, -1.0, 2.0, 9.0], [0.0, 50.0, 0.0, -80.0, 0.0]], np.float32)


def test_names_are_taken_apart_at_the_first_mark() -> None:
    assert label_of("topic", "a: b") == NAMES[1]
    assert column_of(NAMES[1]) == "topic"
    assert {name: own.tolist() for name, own in column_places(NAMES).items()} == {
        "mood": [0, 2],
        "topic": [1, 3, 4],
    }


def test_probabilities_of_a_column_sum_to_one_and_one_class_of_each_is_answered() -> None:
    shares = DECISION.probabilities(ROWS)
    assert shares[:, [0, 2]].sum(axis=1) == pytest.approx(1)
    assert shares[:, [1, 3, 4]].sum(axis=1) == pytest.approx(1)
    assert shares[0, 0] == pytest.approx(1 / (1 + np.exp(-1.5)))
    read = [Read((1,), 0, truncated=False, empty=False)] * 2
    answers = list(DECISION.answers(ROWS, read))
    assert [answer.labels for answer in answers] == [
        ("mood: glad", "topic: d"),
        ("mood: glad", "topic: a: b"),
    ]


def test_what_is_explained_is_the_log_odds_within_the_column() -> None:
    shown = DECISION.shown(ROWS[0])
    assert shown.best == 4
    assert shown.chosen == (4, 0)
    for name, share in zip(NAMES, DECISION.probabilities(ROWS[:1])[0], strict=True):
        value = ExplainedValue.of_answer(shown, name)
        assert probability(value.value(ROWS[:1]))[0] == pytest.approx(share, abs=1e-12)
        step = 1e-6 * np.eye(5)
        slopes = (value.value(ROWS[:1] + step) - value.value(ROWS[:1] - step)) / 2e-6
        assert value.gradient(ROWS[:1])[0] == pytest.approx(slopes, abs=1e-6)
