"""The number that is explained: log-odds, grades and numbers, their slopes, and the probabilities behind them."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.explain.explained_value import ExplainedValue, probability
from heedful.model.answers import ShownAnswer

LOGITS = np.random.default_rng(2).standard_normal((5, 4)) * 3
VALUES = [
    ExplainedValue("class", 2, "c", 1.7),
    ExplainedValue("label", 1, "b"),
    ExplainedValue("grade"),
    ExplainedValue("number"),
    ExplainedValue("class", label="ab", temperature=1.3, below=(0, 2)),
    ExplainedValue("class", 1, "x: b", rivals=(0, 1)),
]


def test_log_odds_are_those_of_the_softmax_at_its_temperature() -> None:
    shares = np.exp(LOGITS / 1.7)
    p = (shares / shares.sum(axis=1, keepdims=True))[:, 2]
    assert VALUES[0].value(LOGITS) == pytest.approx(np.log(p / (1 - p)))
    assert VALUES[0].shown(LOGITS) == pytest.approx(p)
    assert VALUES[1].shown(LOGITS) == pytest.approx(1 / (1 + np.exp(-LOGITS[:, 1])))
    shares = np.exp(LOGITS)
    assert VALUES[2].value(LOGITS) == pytest.approx(shares @ np.arange(1, 5) / shares.sum(axis=1))
    assert VALUES[3].value(LOGITS) == pytest.approx(LOGITS[:, 0])


def test_log_odds_of_a_parent_are_those_of_the_sum_of_its_classes_with_torch_too() -> None:
    torch = pytest.importorskip("torch")
    from heedful.explain.methods.gradients import log_odds

    parent, of_column = VALUES[4:]
    shares = np.exp(LOGITS / 1.3)
    p = (shares / shares.sum(axis=1, keepdims=True))[:, [0, 2]].sum(axis=1)
    assert parent.value(LOGITS) == pytest.approx(np.log(p / (1 - p)))
    assert of_column.value(LOGITS) == pytest.approx(LOGITS[:, 1] - LOGITS[:, 0])
    for value in (parent, of_column):
        found = log_odds(torch.from_numpy(LOGITS) / value.temperature, value)
        assert found.numpy() == pytest.approx(value.value(LOGITS))


def test_a_number_is_called_what_its_column_is_called() -> None:
    assert VALUES[3].of == "the predicted number"
    shown = ShownAnswer(score=3.0, kind="number", quantity="price (EUR)")
    assert ExplainedValue.of_answer(shown).of == "the predicted “price (EUR)”"


@pytest.mark.parametrize("value", VALUES)
def test_the_gradient_is_that_of_finite_differences(value: ExplainedValue) -> None:
    step = 1e-6
    for place in range(4):
        moved = LOGITS.copy()
        moved[:, place] += step
        slope = (value.value(moved) - value.value(LOGITS)) / step
        assert value.gradient(LOGITS)[:, place] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("value", VALUES)
def test_the_mean_slope_gives_the_whole_change(value: ExplainedValue) -> None:
    start, end = LOGITS[:2]
    change = float((value.value(end[None]) - value.value(start[None]))[0])
    assert (end - start) @ value.mean_gradient(start, end) == pytest.approx(change, abs=2e-3)


def test_nothing_overflows_and_certain_is_no_infinity() -> None:
    value = ExplainedValue("class", 0, "a")
    far = np.array([[900.0, 0.0], [-900.0, 0.0]])
    assert value.value(far).tolist() == [900.0, -900.0]
    assert value.shown(far).tolist() == [1.0, 0.0]
    assert probability(np.array([0.0])).tolist() == [0.5]


def test_another_class_may_be_asked_about() -> None:
    shown = ShownAnswer(("a", "b", "c"), (0.2, 0.7, 0.1), temperature=2.0)
    assert ExplainedValue.of_answer(shown) == ExplainedValue("class", 1, "b", 2.0)
    assert ExplainedValue.of_answer(shown, "c").column == 2
    with pytest.raises(UsageError, match="there is no class 'd'"):
        ExplainedValue.of_answer(shown, "d")
    with pytest.raises(UsageError, match="numbers has no classes"):
        ExplainedValue.of_answer(ShownAnswer(score=3.0, kind="number"), "d")


def test_a_score_is_no_choice_of_a_class() -> None:
    with pytest.raises(UsageError, match='kind: expected "number" or "grade" beside a score, got \'class\''):
        ShownAnswer(score=3.0)
