"""How faithful an explanation of one text is: what its words do to the answer when they are deleted or kept.

Comprehensiveness and sufficiency are those of DeYoung et al. (ACL 2020, ERASER), with words deleted from the list of
words. Imports no torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.explain.methods.question import Question

Values = NDArray[np.float64]
FRACTIONS = (0.05, 0.1, 0.2, 0.5)
"""Shares of the words that are deleted or kept; at least one word."""
_RISE = 0.001
"""A probability that rises by less when a word is deleted has not risen."""
_EDGE = 1e-6


@dataclass(frozen=True, eq=False)
class TextMeasures:
    """What one explanation of one text is worth.

    Attributes:
        comprehensiveness: how far the probability falls without the most important words, for each of `FRACTIONS`, [4].
        sufficiency: how far it falls with these words alone, [4].
        log_odds: how far its log-odds fall without the most important words, on average over `FRACTIONS`.
        sign_violations: of the words with a contribution above 0, the share whose deletion raises the probability by at
            least 0.001; NaN for weights without a sign.
        correlation: Spearman's correlation of the contributions with leave-one-out; NaN where one of both is constant.
    """

    comprehensiveness: Values
    sufficiency: Values
    log_odds: float
    sign_violations: float
    correlation: float


def measure_text(
    question: Question, orders: Mapping[str, Values], signed: frozenset[str]
) -> dict[str, TextMeasures]:
    """Measure explanations of one text; all choices of words that they need are computed at once.

    Args:
        question: what is asked: a probability.
        orders: by method what each word that may be deleted contributes, [P], P at least 1.
        signed: methods whose contributions have a sign.

    Returns:
        The measures by method.
    """
    count = len(question.places)
    sizes = [max(1, math.ceil(share * count - 1e-9)) for share in FRACTIONS]
    keep = [np.ones((1, count), bool), ~np.eye(count, dtype=bool)]
    for values in orders.values():
        first = np.argsort(
            np.argsort(-values, kind="stable"), kind="stable"
        )  # the rank of each word, 0 the largest
        without = np.array([first >= size for size in sizes])
        keep += [without, ~without]
    answers = question.ask(np.concatenate(keep))
    whole, falls = answers[0], answers[0] - answers[1 : count + 1]
    rest = answers[count + 1 :].reshape(len(orders), 2, len(sizes))
    found = {}
    for (method, values), (without_top, top_alone) in zip(orders.items(), rest, strict=True):
        supports = values > 0
        violations = math.nan
        if method in signed:
            violations = float((falls[supports] < -_RISE).mean()) if supports.any() else 0.0
        found[method] = TextMeasures(
            whole - without_top,
            whole - top_alone,
            float((_log_odds(whole) - _log_odds(without_top)).mean()),
            violations,
            rank_correlation(values, falls),
        )
    return found


def rank_correlation(first: Values, second: Values) -> float:
    """Return Spearman's correlation, ties by their mean rank; NaN for fewer than three numbers or constant ones."""
    if len(first) < 3:
        return math.nan
    x, y = (_ranks(values) - (len(values) - 1) / 2 for values in (first, second))
    size = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return float((x * y).sum()) / size if size > 0 else math.nan


def _ranks(values: Values) -> Values:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Values = (ends - (counts + 1) / 2)[place.reshape(-1)]
    return ranks


def _log_odds(probability: Values | float) -> Values:
    p = np.clip(probability, _EDGE, 1 - _EDGE)
    odds: Values = np.log(p / (1 - p))
    return odds
