"""From logits to answers: classes, labels, grades and numbers, each by its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from heedful.model.answers import Read
from heedful.model.decisions import (
    KINDS,
    WITH_TORCH,
    ClassDecision,
    Decision,
    GradeDecision,
    LabelsDecision,
    NumberDecision,
)
from heedful.tasks.task_table import TASKS

LOGITS = np.array([[2.0, -1.0, 0.5], [0.0, 0.0, 0.0], [-300.0, 300.0, 40.0]], np.float32)
READ = [Read((3,), 0, False, False)] * 3
COSTS = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [9.0, 9.0, 0.0]])
MADE = [
    ClassDecision(("a", "b", "c"), 1.7),
    ClassDecision(("a", "b", "c"), 1.7, COSTS),
    LabelsDecision(("a", "b", "c"), np.array([0.5, 0.5, 0.9])),
    GradeDecision(("1", "2", "3")),
]


def test_classes_are_the_softmax_at_the_temperature() -> None:
    shares = ClassDecision(("a", "b", "c"), 1.7).probabilities(LOGITS)
    wanted = torch.softmax(torch.from_numpy(LOGITS).double() / 1.7, dim=-1).numpy()
    np.testing.assert_allclose(shares, wanted, rtol=1e-14)


def test_labels_are_sigmoids_each_by_itself() -> None:
    made = LabelsDecision(("a", "b", "c"), np.array([0.5, 0.5, 0.9]))
    wanted = torch.sigmoid(torch.from_numpy(LOGITS).double()).numpy()
    np.testing.assert_allclose(made.probabilities(LOGITS), wanted, rtol=1e-14)
    assert [answer.labels for answer in made.answers(LOGITS, READ)] == [("a",), ("a", "b"), ("b", "c")]


def test_costs_choose_and_the_explanation_says_what_was_chosen() -> None:
    careful = ClassDecision(("a", "b", "c"), 1.7, COSTS)
    assert [answer.label for answer in careful.answers(LOGITS, READ)] == ["c", "c", "b"]
    assert [careful.shown(row).best for row in LOGITS] == [2, 2, 1]
    plain = ClassDecision(("a", "b", "c"), 1.7)
    assert [plain.shown(row).best for row in LOGITS] == [0, 0, 1]


def test_a_grade_is_the_mean_of_the_softmax() -> None:
    made = GradeDecision(("1", "2", "3"))
    scores = made.scores(LOGITS)
    assert scores[1] == pytest.approx(2)
    assert scores[2] == pytest.approx(2)
    assert [answer.score for answer in made.answers(LOGITS, READ)] == scores.tolist()
    assert made.shown(LOGITS[0]).score == scores[0]
    assert made.shown(LOGITS[0]).score_range == (1.0, 3.0)


def test_a_number_is_the_logit_and_its_range_holds_it() -> None:
    made = NumberDecision(least=-1.0, greatest=1.5)
    assert [answer.score for answer in made.answers(LOGITS[:, :1], READ)] == [2.0, 0.0, -300.0]
    assert [made.shown(row[:1]).score_range for row in LOGITS] == [(-1.0, 2.0), (-1.0, 1.5), (-300.0, 1.5)]
    assert made.probabilities(LOGITS[:, :1]).shape == (3, 0)


@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
def test_an_answer_does_not_depend_on_its_neighbors(made: Decision[Any]) -> None:
    together = list(made.answers(LOGITS, READ))
    alone = [answer for row in LOGITS for answer in made.answers(row[None], READ[:1])]
    assert together == alone


def test_every_task_is_in_one_of_the_two_tables() -> None:
    own = {name for name in TASKS if type(TASKS[name]).__module__.startswith("heedful.")}
    assert own == {*KINDS, *WITH_TORCH}
    for name, kind in KINDS.items():
        assert TASKS[name].sides == kind.texts
        assert TASKS[name].header == kind.layout.header
