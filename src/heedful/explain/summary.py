"""What to show first: the strongest links, the words to keep of a long text, the shade of a weight. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heedful.explain.explanation import Array, Explanation, SentenceView

LONG = 60
"""A text with more words than this is shown by its most important words only."""
KEPT = 40
"""How many words of a long text are shown."""
_STANDS_OUT = 0.02
"""A link whose weight exceeds an even spread by less is not worth naming."""


@dataclass(frozen=True)
class Link:
    """A word and a word it looks at.

    Attributes:
        word: the word that looks.
        seen: the word it looks at.
        weight: the attention weight.
        map: name of the map or alignment.
        side: name of the side; for an alignment both names.
    """

    word: str
    seen: str
    weight: float
    map: str
    side: str


def strongest_links(view: SentenceView, count: int = 6) -> list[Link]:
    """Find the links of a sentence that stand out most, over all its maps.

    Links are ordered by how far the weight lies above an even spread over the words visible from there, times the
    source2token weight of the word that looks, if there is one. A word that sees a single word gives it weight 1
    whatever it learnt, so such a link says nothing and is left out; so are tokens that do not stand in the text, and
    weights less than 0.02 above the even spread.

    Args:
        view: the sentence.
        count: how many links to return at most.

    Returns:
        The links, most telling first.
    """
    real = np.asarray(view.in_text, dtype=bool)
    share = np.ones(len(real)) if view.weights is None else view.weights
    found: list[tuple[float, Link]] = []
    for name, weights in view.maps.items():
        visible = weights > 0
        even = 1 / np.maximum(visible.sum(axis=1, keepdims=True), 1)
        named = visible & real[:, None] & real[None, :] & (weights - even >= _STANDS_OUT)
        lift = np.where(named, weights - even, 0.0) * share[:, None]
        for i, j in _largest(lift, count):
            link = Link(view.words[i], view.words[j], float(weights[i, j]), name, view.name)
            found.append((float(lift[i, j]), link))
    found.sort(key=lambda item: -item[0])
    return [link for _, link in found[:count]]


def strongest_alignments(explanation: Explanation, count: int = 6) -> list[Link]:
    """Find the largest weights between the two sides of a pair, tokens outside the texts left out.

    Args:
        explanation: a pair with alignments; without any the result is empty.
        count: how many links to return at most.

    Returns:
        The links, largest weight first; ``word`` stands on the first side and ``seen`` on the second.
    """
    if not explanation.alignments:
        return []
    first, second = explanation.sides
    real = np.outer(np.asarray(first.in_text, dtype=bool), np.asarray(second.in_text, dtype=bool))
    links = []
    for name, weights in explanation.alignments.items():
        for i, j in _largest(np.where(real, weights, 0.0), count):
            both = f"{first.name} ↔ {second.name}"
            links.append(Link(first.words[i], second.words[j], float(weights[i, j]), name, both))
    return sorted(links, key=lambda link: -link.weight)[:count]


def importance(view: SentenceView) -> Array:
    """Return one number a word: its source2token weight, or else the attention it receives, or else zero."""
    if view.weights is not None:
        return view.weights
    received = [weights.sum(axis=0) for weights in view.maps.values()]
    return np.sum(received, axis=0) if received else np.zeros(len(view.words))


def focus(view: SentenceView) -> tuple[SentenceView, tuple[int, ...]]:
    """Reduce a long text to its most important words, in text order.

    Args:
        view: the sentence.

    Returns:
        A view with at most `LONG` words, without source2token weights where words were left out (they would no
        longer sum to 1); and the positions of its words in the whole text.
    """
    n = len(view.words)
    if n <= LONG:
        return view, tuple(range(n))
    kept = np.sort(np.argsort(-importance(view), kind="stable")[:KEPT])
    square = np.ix_(kept, kept)
    short = replace(
        view,
        words=_take(view.words, kept),
        spans=tuple(view.spans[i] for i in kept),
        unknown=tuple(view.unknown[i] for i in kept),
        maps={name: weights[square] for name, weights in view.maps.items()},
        gates={name: gate[kept] for name, gate in view.gates.items()},
        weights=None,
        tree_distance=None if view.tree_distance is None else view.tree_distance[square],
        chosen=None if view.chosen is None else view.chosen[square],
    )
    return short, tuple(kept.tolist())


def shade(weight: float) -> float:
    """Return how dark a weight is drawn, 0..1: its square root, so that small weights stay visible.

    The scale is the same in every picture: equal shades mean equal weights.
    """
    return float(np.sqrt(min(max(weight, 0.0), 1.0)))


def _take(words: Sequence[str], kept: Array) -> tuple[str, ...]:
    return tuple(words[i] for i in kept)


def _largest(weights: Array, count: int) -> list[tuple[int, int]]:
    order = np.argsort(-weights, axis=None, kind="stable")[:count]
    places = [divmod(int(place), weights.shape[1]) for place in order]
    return [(i, j) for i, j in places if weights[i, j] > 0]
