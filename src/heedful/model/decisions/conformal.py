"""Conformal prediction on arrays: how odd each class is for each row, and from which oddness on it is left out.

If the rows that calibrate and a new row are exchangeable, the right class of the new row is at most as odd as the
threshold with at least the probability that was asked for, whatever the model (Vovk et al., 2005). References:

- LAC, the smallest sets on average: Sadinle, Lei and Wasserman, JASA 2019.
- APS, sets that grow where the model is unsure: Romano, Sesia and Candes, NeurIPS 2020; here without random numbers.
- RAPS, APS with a price for far classes: Angelopoulos, Bates, Malik and Jordan, ICLR 2021.
- the share of right labels that a set misses: Angelopoulos, Bates, Fisch, Lei and Schuster, ICLR 2024.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Method = Literal["lac", "aps", "raps"]
METHODS: tuple[Method, ...] = ("lac", "aps", "raps")
PRICE, FREE = 0.01, 5
"""What RAPS adds for each class behind the first so many; fixed, so that no row chooses them."""


def oddness(probabilities: Floats, method: Method) -> Floats:
    """Return how odd each class would be.

    Args:
        probabilities: [N, Y], rows that sum to 1.
        method: "lac", ``1 - p``; "aps", the sum of the probabilities of the class and of all likelier ones; "raps",
            that sum and `PRICE` for each class behind the first `FREE`.

    Returns:
        [N, Y]; no row depends on the others. Of classes of equal probability the first counts as the likelier one.
    """
    if method == "lac":
        return 1.0 - probabilities
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    if method == "raps":
        sums = sums + PRICE * np.maximum(np.arange(1, sums.shape[1] + 1) - FREE, 0)
    found = np.empty_like(sums)
    np.put_along_axis(found, order, sums, axis=1)
    return found


def threshold(scores: Floats, coverage: float, weights: Floats | None = None) -> float:
    """Return the score that a new one is at most as large as, with a probability of ``coverage`` or more.

    Args:
        scores: of the rows that calibrate, [N].
        coverage: above 0, below 1.
        weights: how much each row counts, [N], above 0; the new row counts as much as they do on average. None where
            all count alike.

    Returns:
        The smallest score that ``ceil((N + 1) * coverage)`` of them do not exceed; infinite where they are too few.
    """
    # what rounding adds to a whole number, such as 10 * 0.9, is no further row
    if weights is not None and len(weights):
        order = np.argsort(scores, kind="stable")
        sums = np.cumsum(weights[order] / weights.mean())
        place = int(np.searchsorted(sums, (len(scores) + 1) * coverage - 1e-9))
        return math.inf if place == len(scores) else float(scores[order[place]])
    rank = math.ceil((len(scores) + 1) * coverage - 1e-9)
    return math.inf if rank > len(scores) else float(np.partition(scores, rank - 1)[rank - 1])


def class_thresholds(
    scores: Floats, gold: NDArray[np.int64], classes: int, coverage: float, weights: Floats | None = None
) -> Floats:
    """Return a threshold for each class from its own rows, [Y]: then what is promised holds for each class.

    Args:
        scores: of the right class of each row, [N].
        gold: numbers of the right classes, [N].
        classes: how many there are.
        coverage: see `threshold`.
        weights: see `threshold`.

    Returns:
        [Y]; infinite for a class of too few rows, which is then in every set.
    """
    own = [gold == each for each in range(classes)]
    return np.array(
        [threshold(scores[each], coverage, None if weights is None else weights[each]) for each in own]
    )


def share_threshold(
    probabilities: Floats, gold: NDArray[np.bool_], coverage: float, weights: Floats | None = None
) -> float:
    """Return the probability from which on labels are taken so that few right ones are missed.

    Args:
        probabilities: of each label by itself, [N, Y].
        gold: which are right, [N, Y].
        coverage: the share of the right labels of a text that its set is to hold, on average over texts; a text without
            labels misses none.
        weights: see `threshold`.

    Returns:
        The highest threshold for which ``(sum of the shares missed + 1) / (N + 1) <= 1 - coverage``; 0 where the rows
        are too few.
    """
    row, column = np.nonzero(gold)
    each = np.ones(len(gold)) if weights is None else weights / weights.mean()
    own, price = probabilities[row, column], (each / np.maximum(gold.sum(axis=1), 1))[row]
    order = np.argsort(own, kind="stable")
    own, missed = own[order], np.concatenate([[0.0], np.cumsum(price[order])])
    # With the threshold own[k] the labels of smaller probability are missed.
    below = missed[np.searchsorted(own, own, side="left")]
    allowed = np.flatnonzero(below <= (1 - coverage) * (len(gold) + 1) - 1 + 1e-9)
    return float(own[allowed[-1]]) if len(allowed) else 0.0
