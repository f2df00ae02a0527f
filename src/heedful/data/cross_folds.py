"""Folds for cross-validation: every class is spread evenly over them, and copies of a text stay together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.folds import shuffled
from heedful.data.leaks import normalized


def cross_folds(
    strata: NDArray[np.int64], texts: Sequence[Hashable], folds: int, seed: int
) -> NDArray[np.int64]:
    """Give every example a fold.

    The rarest strata are dealt out first, each to the folds that have fewest of it, so that a class of three examples
    is in three folds. Copies of a text share a fold, for one in another fold would be an answer to look up: case,
    punctuation and spaces do not count, nor does the order of a pair.

    Args:
        strata: a number for each example, such as that of its class, [N].
        texts: the text of each example, or a tuple of its texts, each as a string or as a tuple of words, [N]; anything
            else is compared as it is.
        folds: how many there are; of fewer distinct texts, as many as there are texts.
        seed: of the order in which examples are dealt out.

    Returns:
        The fold of each example, from 0, [N]; the same on every machine.
    """
    together: dict[Hashable, list[int]] = {}
    for place in shuffled(len(strata), seed):
        together.setdefault(_bare(texts[place]) or (place,), []).append(place)  # empty texts are no copies
    kinds, codes = np.unique(strata, return_inverse=True)
    counts = np.bincount(codes, minlength=len(kinds))
    dealt = np.zeros((min(folds, max(len(together), 1)), len(kinds)), np.int64)
    found = np.zeros(len(strata), np.int64)
    rarest = sorted(together.values(), key=lambda places: min(counts[codes[place]] for place in places))
    for places in rarest:
        own = codes[places]
        rare = own[counts[own].argmin()]
        fold = min(range(len(dealt)), key=lambda k: (dealt[k, rare], dealt[k].sum(), k))
        found[places] = fold
        np.add.at(dealt[fold], own, 1)
    return found


def _bare(text: Hashable) -> Hashable:
    """Return what is equal for copies of a text; nothing for an empty one."""
    if isinstance(text, str):
        return normalized(text)
    if isinstance(text, tuple):
        sides = sorted(normalized(side if isinstance(side, str) else " ".join(side)) for side in text)
        return tuple(sides) if any(sides) else ()
    return (text,)
