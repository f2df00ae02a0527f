"""Several linear parts as one: a single regularized fit over the rows of all of them, side by side.

Of few rows no weights of parts can be told. One fit over all features has nothing to weigh, and what it finds is
handed to the parts again, so that a model keeps the same parts however they were fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heedful.tasks.schema import About
from heedful.tasks.sentences.by_folds import PartRows
from heedful.tasks.sentences.fitting_wide import DENSE_STRENGTHS, FitSetting
from heedful.tasks.sentences.linear_fits import LinearFit
from heedful.tasks.sentences.linear_targets import ClassTargets, Floats, LinearTargets
from heedful.tasks.sentences.turned_rows import MOST_DIRECTIONS, Rows, dense, directions


def together(parts: Sequence[PartRows], shares: Mapping[str, float], targets: LinearTargets) -> PartRows:
    """Join parts to one part whose features are those of all, each part's values times the root of its share.

    The rows of N examples span at most N directions, whatever their features are. So the fit reads the examples in
    these directions, which the products of their rows give, and its weights are turned back into those of features.

    Args:
        parts: two or more, with rows of the same examples.
        shares: what the products of the rows of a part count, by its name; 1 for parts that are not named.
        targets: gold of the same examples; if all of them weigh the same, classes may count alike however many
            examples they have.

    Returns:
        The part. Its bias is kept with the first of the parts.
    """
    weighed = [(part, shares.get(part.name, 1.0)) for part in parts]
    products = [share * _products(part.rows, part.rows) for part, share in weighed]
    squared, vectors = directions(np.sum(products, axis=0))
    lengths = np.sqrt(squared)
    turn = vectors / lengths
    held = None
    if all(part.held is not None for part in parts):
        held = sum(share * _products(part.held, part.rows) for part, share in weighed) @ turn

    def put(about: About, fit: LinearFit, weight: float) -> About:
        of_examples, bias = turn @ fit.weights, fit.bias
        for part, share in weighed:
            weights = share * np.asarray(part.rows.T @ of_examples)
            about, bias = part.put(about, LinearFit(weights, bias), weight), np.zeros_like(bias)
        return about

    weighted = bool(np.ptp(targets.weights))  # whoever weighs examples has said how much a class counts
    evens = (True, False) if isinstance(targets, ClassTargets) and not weighted else (False,)
    settings = tuple(FitSetting(strength, even=even) for even in evens for strength in DENSE_STRENGTHS)
    *first, last = [part.name for part in parts]
    name = f"{', '.join(first)} and {last} in one"
    return PartRows(name, vectors * lengths, settings, put, held)


def may_join(parts: Sequence[PartRows]) -> bool:
    """Say whether there is anything to join, and few enough examples."""
    return len(parts) > 1 and all(part.rows.shape[0] <= MOST_DIRECTIONS for part in parts)


def _products(first: Rows | None, second: Rows) -> Floats:
    assert first is not None  # the caller looked
    if isinstance(first, np.ndarray):
        return first.astype(np.float64) @ second.T
    return dense(first @ second.T)
