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


def threshold(scores: Floats, coverage: float) -> float:
    """Return the score that a new one is at most as large as, with a probability of ``coverage`` or more.

    Args:
        scores: of the rows that calibrate, [N].
        coverage: above 0, below 1.

    Returns:
        The smallest score that ``ceil((N + 1) * coverage)`` of them do not exceed; infinite where they are too few.
    """
    # what rounding adds to a whole number, such as 10 * 0.9, is no further row
    rank = math.ceil((len(scores) + 1) * coverage - 1e-9)
    return math.inf if rank > len(scores) else float(np.partition(scores, rank - 1)[rank - 1])


def class_thresholds(scores: Floats, gold: NDArray[np.int64], classes: int, coverage: float) -> Floats:
    """Return a threshold for each class from its own rows, [Y]: then what is promised holds for each class.

    Args:
        scores: of the right class of each row, [N].
        gold: numbers of the right classes, [N].
        classes: how many there are.
        coverage: see `threshold`.

    Returns:
        [Y]; infinite for a class of too few rows, which is then in every set.
    """
    return np.array([threshold(scores[gold == each], coverage) for each in range(classes)])


def share_threshold(probabilities: Floats, gold: NDArray[np.bool_], coverage: float) -> float:
    """Return the probability from which on labels are taken so that few right ones are missed.

    Args:
        probabilities: of each label by itself, [N, Y].
        gold: which are right, [N, Y].
        coverage: the share of the right labels of a text that its set is to hold, on average over texts; a text without
            labels misses none.

    Returns:
        The highest threshold for which ``(sum of the shares missed + 1) / (N + 1) <= 1 - coverage``; 0 where the rows
        are too few.
    """
    row, column = np.nonzero(gold)
    own, price = probabilities[row, column], 1.0 / gold.sum(axis=1)[row]
    order = np.argsort(own, kind="stable")
    own, missed = own[order], np.concatenate([[0.0], np.cumsum(price[order])])
    # With the threshold own[k] the labels of smaller probability are missed.
    below = missed[np.searchsorted(own, own, side="left")]
    allowed = np.flatnonzero(below <= (1 - coverage) * (len(gold) + 1) - 1 + 1e-9)
    return float(own[allowed[-1]]) if len(allowed) else 0.0
