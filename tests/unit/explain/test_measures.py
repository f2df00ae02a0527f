"""Measures of faithfulness on answers that are known, and their means over texts."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import spearmanr

from heedful.errors import UsageError
from heedful.explain.measured_figure import draw_measured
from heedful.explain.measured_methods import (
    CONTROLS,
    MEASURES,
    MeasuredMethods,
    TextMeasures,
    measure_text,
    rank_correlation,
)
from heedful.explain.methods import Question
from heedful.explain.methods.answer_function import Kept

SIGNED = frozenset({"right", "wrong"})


def additive(weights: Sequence[float]) -> Question:
    """Ask for a probability that is 0.2 and the weights of the words that remain."""

    def values(choices: Sequence[Kept]) -> list[float]:
        return [0.2 + sum(weights[i] for i in kept[0]) for kept in choices]

    return Question((tuple(f"w{k}" for k in range(len(weights))),), values, "the probability of “a”")


def test_the_measures_are_those_of_their_definition() -> None:
    weights = np.array([0.3, -0.1, 0.05, 0.2, 0.0, 0.05, 0.01, 0.02, 0.03, 0.04])
    found = measure_text(additive(weights), {"right": weights, "wrong": -weights, "plain": weights}, SIGNED)
    right, wrong, plain = (found[name] for name in ("right", "wrong", "plain"))
    # 1, 1, 2 and 5 of ten words
    assert right.comprehensiveness == pytest.approx([0.3, 0.3, 0.5, 0.64])
    assert right.sufficiency == pytest.approx([0.3, 0.3, 0.1, -0.04])
    assert wrong.comprehensiveness[0] == pytest.approx(-0.1)
    logit = [math.log(p / (1 - p)) for p in (0.8, 0.5, 0.5, 0.3, 0.16)]
    assert right.log_odds == pytest.approx(np.mean([logit[0] - each for each in logit[1:]]))
    assert (right.sign_violations, wrong.sign_violations) == (0, 1)
    assert math.isnan(plain.sign_violations)
    assert right.correlation == pytest.approx(1)
    assert wrong.correlation == pytest.approx(-1)


def test_words_that_are_said_to_support_and_do_not_are_counted() -> None:
    weights = [0.3, -0.1, -0.05, 0.2]
    found = measure_text(additive(weights), {"right": np.array([0.1, 0.2, 0.3, -0.1])}, SIGNED)
    assert found["right"].sign_violations == pytest.approx(2 / 3)


def test_everything_is_asked_at_once() -> None:
    calls: list[int] = []
    question = additive([0.1, 0.2, 0.3])

    def counted(choices: Sequence[Kept]) -> object:
        calls.append(len(choices))
        return question.values(choices)

    values = {name: np.array([3.0, 2.0, 1.0]) for name in "abc"}
    measure_text(Question(question.words, counted, ""), values, SIGNED)  # type: ignore[arg-type]
    assert len(calls) == 1
    assert calls[0] <= 2**3


def test_the_rank_correlation_is_scipys() -> None:
    generator = np.random.default_rng(0)
    for count in (3, 8, 30):
        first, second = generator.integers(0, 6, count) * 1.0, generator.normal(size=count)
        if np.ptp(first):
            assert rank_correlation(first, second) == pytest.approx(spearmanr(first, second).statistic)
    assert math.isnan(rank_correlation(np.ones(5), np.arange(5.0)))
    assert math.isnan(rank_correlation(np.arange(2.0), np.arange(2.0)))


def measured(count: int = 40, gap: float = 0.2) -> MeasuredMethods:
    """Measure invented texts: occlusion is better than attention by a gap, and Shapley values are like occlusion."""
    generator = np.random.default_rng(1)

    def text(extra: float, signed: bool) -> TextMeasures:
        falls = 0.3 + extra + generator.normal(0, 0.1, 4)
        violations = 0.25 if signed else math.nan
        return TextMeasures(
            falls, 0.1 - extra + generator.normal(0, 0.1, 4), 1 + extra, violations, 0.5 + extra
        )

    rows = {"attention": (0.0, False), "occlusion": (gap, True), "shapley": (gap - 0.001, True),
            CONTROLS[0]: (-0.3, False), CONTROLS[1]: (-0.25, True)}  # fmt: skip
    texts = [{name: text(*row) for name, row in rows.items()} for _ in range(count)]
    return MeasuredMethods(texts, "made texts", 7, skipped=2)


def test_methods_are_ordered_and_ties_are_named() -> None:
    found = measured()
    assert set(found.methods[:2]) == {"occlusion", "shapley"}
    assert found.methods[2] == "attention"
    standing = found.standing
    assert standing.tied == (found.methods[1],)
    assert standing.default == "occlusion", "of tied methods the cheapest"
    assert measured(gap=0.0).standing.default == "attention"
    mean = found.mean("attention", "comprehensiveness")
    assert mean.low < mean.value < mean.high
    assert mean.value == pytest.approx(0.3, abs=0.05)
    assert math.isnan(found.mean("attention", "sign_violations").value)


def test_the_table_the_record_and_the_picture_hold_every_method(tmp_path: object) -> None:
    found = measured()
    lines = found.render().splitlines()
    assert max(map(len, lines)) <= 100
    for name in found.names:
        row = next(line for line in lines if line.startswith(name))
        assert row.count("±") == (4 if name in ("attention", CONTROLS[0]) else 5)
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["methods"]["attention"]["sign_violations"] == [None] * 3
    assert list(plain["methods"]["occlusion"]["comprehensiveness_at"]) == ["0.05", "0.1", "0.2", "0.5"]
    assert set(MEASURES) <= set(plain["methods"]["shapley"])
    assert (plain["texts"], plain["skipped"], plain["order"]) == (40, 2, list(found.methods))
    pytest.importorskip("matplotlib")
    picture = draw_measured(found, f"{tmp_path}/a.svg").read_bytes()
    assert picture == draw_measured(measured(), f"{tmp_path}/b.svg").read_bytes()


def test_without_texts_there_is_nothing_to_measure() -> None:
    with pytest.raises(UsageError, match="no text of at least two words"):
        MeasuredMethods([], "made texts", 0)
