"""Explain an answer by deleting words: leave-one-out and Shapley values. Imports no torch.

Leave-one-out is the "erasure" of Li et al. (2016). Shapley values (Shapley, 1953) are exact for short texts; otherwise
they are sampled, with their error.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import NDArray

from heedful.explain.attribution import Attribution
from heedful.explain.methods.answer_function import Question


def leave_one_out(question: Question) -> tuple[NDArray[np.float64], float]:
    """Delete every word by itself, ``v(all) - v(all without i)``; all P + 1 texts are computed at once.

    Args:
        question: what is asked.

    Returns:
        How far the value falls without each of the words that may be deleted, [P], and the value with all words.
    """
    count = len(question.places)
    values = question.evaluate(np.concatenate([np.ones((1, count), bool), ~np.eye(count, dtype=bool)]))
    return values[0] - values[1:], float(values[0])


def occlusion(question: Question) -> Attribution:
    """Explain by leave-one-out; see `leave_one_out`. It is exact and needs no random numbers.

    What is left between all words and none is what they do together.

    Args:
        question: what is asked.

    Returns:
        What each word contributes.
    """
    count = len(question.places)
    keep = np.concatenate([np.ones((1, count), bool), ~np.eye(count, dtype=bool), np.zeros((1, count), bool)])
    values = question.evaluate(keep)
    whole, start, falls = float(values[0]), float(values[-1]), values[0] - values[1:-1]
    together = whole - start - float(falls.sum())
    return Attribution("occlusion", question.of, question.by_side(falls), whole, start, together)


ORDERS = 50
"""Random orders of the words that are tried by default."""
MOST_ORDERS = 100_000
"""More would take days, and their error is below a hundredth of what one order gives."""
_PAIRS = 128
"""Pairs of orders whose choices of words are computed at once."""
_EXACT = 8
"""Up to so many words all choices of words are computed, 256 texts, and there is no error."""


def shapley(question: Question, *, orders: int = ORDERS, seed: int = 0) -> Attribution:
    """Explain by Shapley values: what a word adds to the words before it, on average over all orders of the words.

    ``phi_i = E_order[v(words before i, and i) - v(words before i)]``. For up to 8 words it is exact. For more words,
    random orders are drawn, each together with its reverse, which makes the error smaller (Mitchell et al., 2022), and
    the standard error is that of the mean over the pairs of orders.

    Args:
        question: what is asked.
        orders: how many random orders are tried, at most 100,000; an odd number counts as one more, and fewer than 4
            as 4.
        seed: of the random orders.

    Returns:
        What each word contributes, with standard errors. The sum is the value with all words less that without words.
    """
    count = len(question.places)
    if count <= _EXACT:
        return _exactly(question, count)
    pairs = max(2, (orders + 1) // 2)
    generator = np.random.default_rng(seed)
    means, ends = np.empty((pairs, count)), (0.0, 0.0)
    for first in range(0, pairs, _PAIRS):
        drawn = np.array([generator.permutation(count) for _ in range(min(_PAIRS, pairs - first))])
        both = np.stack([drawn, drawn[:, ::-1]], axis=1).reshape(-1, count)
        rank = np.argsort(both, axis=1)  # [orders, P]: where each word stands in the order
        keep = rank[:, None, :] < np.arange(count + 1)[None, ::-1, None]  # all words first
        values = question.evaluate(keep.reshape(-1, count)).reshape(-1, count + 1)[:, ::-1]
        added = np.take_along_axis(np.diff(values, axis=1), rank, axis=1)
        means[first : first + len(drawn)] = added.reshape(-1, 2, count).mean(axis=1)
        ends = float(values[0, 0]), float(values[0, -1])
    errors = means.std(axis=0, ddof=1) / np.sqrt(pairs)
    return Attribution(
        "shapley",
        question.of,
        question.by_side(means.mean(axis=0)),
        whole=ends[1],
        start=ends[0],
        errors=question.by_side(errors),
        samples=2 * pairs,
    )


def _exactly(question: Question, count: int) -> Attribution:
    chosen = np.arange(2**count - 1, -1, -1)  # all words first
    keep = (chosen[:, None] >> np.arange(count)[None]) & 1 > 0
    values = np.empty(2**count)
    values[chosen] = question.evaluate(keep)
    sizes = np.bincount(chosen, weights=keep.sum(axis=1)).astype(int)
    weight = np.array([factorial(s) * factorial(count - s - 1) / factorial(count) for s in range(count)])
    found = np.zeros(count)
    for i in range(count):
        without = np.flatnonzero((np.arange(2**count) >> i) & 1 == 0)
        found[i] = (weight[sizes[without]] * (values[without | 1 << i] - values[without])).sum()
    return Attribution(
        "shapley",
        question.of,
        question.by_side(found),
        whole=float(values[-1]),
        start=float(values[0]),
        errors=question.by_side(np.zeros(count)),
    )
