"""Folds for cross-validation: every class is spread evenly over them, and copies of a text stay together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import accumulate
from math import fsum, log

import numpy as np
from numpy.typing import NDArray

from heedful.data.folds import shuffled
from heedful.data.leaks import normalized

_NEAR = 0.6
"""Share of what two texts say from which one is a changed copy of the other."""
_SHARED = 4
"""Different words that both have at least: of a short text, such as a search, a rare word says nearly all by itself."""
_MOST = 2_000
"""Different texts of which changed copies are looked for at most."""


def cross_folds(
    strata: NDArray[np.int64], texts: Sequence[Hashable], folds: int, seed: int
) -> NDArray[np.int64]:
    """Give every example a fold.

    The rarest strata are dealt out first, each to the folds that have fewest of it, so that a class of three examples
    is in three folds. Copies of a text share a fold, for one in another fold would be an answer to look up: case,
    punctuation and spaces do not count, nor does the order of a pair. So do copies of single texts in which some words
    are changed, see `_near_copies`.

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
    together = _near_copies(together, len(strata) // folds)
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


def _near_copies(together: dict[Hashable, list[int]], most: int) -> dict[Hashable, list[int]]:
    """Put the examples of texts together that have nearly the same words.

    A word counts the logarithm of how rare it is, so that what all texts have in common is no sign of a copy. Two texts
    are copies if the words of both are `_SHARED` or more and count `_NEAR` of the words of either, and so are copies of
    copies.

    Args:
        together: the places of each text, by what is equal for equal texts.
        most: examples that copies of one text may be; more of them show how these texts are written, and stay apart.

    Returns:
        The places of each text and its changed copies, in the same order.
    """
    words = {key: frozenset(_single(key).split()) for key in together}
    if len(words) > _MOST:
        return together
    texts_of = Counter(word for own in words.values() for word in own)
    counts = {word: log(len(words) / texts) for word, texts in texts_of.items()}
    totals = {key: fsum(counts[word] for word in own) for key, own in words.items()}
    group = {key: [key] for key in together}
    lists: dict[str, list[Hashable]] = defaultdict(list)
    for key, own in words.items():
        ordered = sorted(own, key=lambda word: (texts_of[word], word))
        total = totals[key]
        before = accumulate((counts[word] for word in ordered), initial=0.0)
        # If two texts are copies, the rarest word of both is among these of each.
        rare = [
            word
            for word, passed in zip(ordered, before, strict=False)
            if total - passed >= _NEAR * total > 0 and texts_of[word] <= most
        ]
        for other in dict.fromkeys(other for word in rare for other in lists[word]):
            shared = own & words[other]
            if group[other] is group[key] or len(shared) < _SHARED:
                continue
            both = fsum(counts[word] for word in shared)
            if both >= _NEAR * (total + totals[other] - both):
                group[other] += group[key]
                group |= dict.fromkeys(group[key], group[other])
        for word in rare:
            lists[word].append(key)
    found: dict[Hashable, list[int]] = {}
    for key in together:
        copies = [place for each in group[key] for place in together[each]]
        if len(copies) > most:
            found[key] = together[key]
        elif key == group[key][0]:
            found[key] = copies
    return found


def _single(key: Hashable) -> str:
    """Return the words of a single text, as `_bare` gives them; nothing of a pair."""
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    return key if isinstance(key, str) else ""
