"""Labels that are likely wrong, by probabilities of models that did not see the examples (Northcutt et al., 2021)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_ROUNDING = 1e-6


def rank_suspects(probabilities: Floats, gold: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find labels that are likely wrong, by the rule of confident learning.

    A class is a candidate for an example where its probability reaches the mean that it has over the examples of its
    own label. An example is suspect where its likeliest candidate is another class than its label, and the model's
    first choice is too. Classes that no label names are no candidates.

    Args:
        probabilities: of each class, from models that did not see the example, [N, Y].
        gold: the labels, [N].

    Returns:
        Places of the suspects, the least probable label first.
    """
    classes = probabilities.shape[1]
    own = probabilities[np.arange(len(gold)), gold]
    means = np.array([own[gold == k].mean() if (gold == k).any() else np.inf for k in range(classes)])
    candidates = np.where(probabilities >= means - _ROUNDING, probabilities, -1.0)
    guess = candidates.argmax(axis=1)
    wrong = (candidates.max(axis=1) >= 0) & (guess != gold) & (probabilities.argmax(axis=1) != gold)
    places = np.flatnonzero(wrong)
    ranked: NDArray[np.int64] = places[np.argsort(own[places], kind="stable")]
    return ranked
