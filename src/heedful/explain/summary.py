"""What to show first: the strongest links, the words of a long text, and the shade of a weight. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from heedful.explain.explanation_record import Array, ExplanationRecord, SentenceView


LONG = 60
"""A text with more words than this is shown by its most important words only."""
KEPT = 40
"""How many words of a long text are shown."""
MANY = 12
"""A sentence with more maps than this, in several layers, is drawn by those of the last layer in figures."""
NUMBERS_UP_TO, LABEL_CELLS = 14, 16
"""Cells carry numbers in maps of at most so many words; a longer label, in terminal cells, is cut."""
_AGAINST = {"forward": np.triu, "backward": np.tril}
"""Rule of a map to what leaves only the cells against its direction."""
_STANDS_OUT = 0.02
"""A link whose weight exceeds an even spread by less is not worth naming."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Weights of words against words, which pictures draw as a heat map.

    Attributes:
        rows: labels down the side.
        columns: labels along the top.
        values: [rows, columns] in 0..1.
        outlined: [rows, columns] bool, cells to outline; None for no cell.
        numbers: whether the cells carry their numbers if the map is small.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Array
    outlined: Array | None = None
    numbers: bool = True

    @property
    def numbered(self) -> bool:
        """Whether the cells carry their numbers."""
        return self.numbers and max(len(self.rows), len(self.columns)) <= NUMBERS_UP_TO


@dataclass(frozen=True)
class AttentionLink:
    """A word and a word that it attends to.

    Attributes:
        word: the word that attends.
        seen: the word that it attends to.
        weight: the attention weight.
        map: name of the map or alignment.
        side: name of the side; for an alignment both names.
        steps: number of steps between two different words in the dependency tree; None without a tree or a path.
    """

    word: str
    seen: str
    weight: float
    map: str
    side: str
    steps: int | None = None


def strongest_links(view: SentenceView, count: int = 6) -> list[AttentionLink]:
    """Find the links of a sentence that stand out most, over all its maps.

    Links are ordered by how far the weight lies above an even spread over the words visible from there, times the
    source2token weight of the word that looks, if there is one. A word that sees a single word gives it weight 1
    whatever it learned, so such a link says nothing and is left out; so are links of a word with itself, tokens that do
    not stand in the text, and weights less than 0.02 above the even spread.

    Args:
        view: the sentence.
        count: how many links to return at most.

    Returns:
        The links, most telling first.
    """
    real = np.asarray(view.in_text, dtype=bool)
    others = ~np.eye(len(real), dtype=bool)
    share = np.ones(len(real)) if view.weights is None else view.weights
    found: list[tuple[float, AttentionLink]] = []
    for name, weights in view.maps.items():
        visible = weights > 0
        even = 1 / np.maximum(visible.sum(axis=1, keepdims=True), 1)
        named = visible & real[:, None] & real[None, :] & others & (weights - even >= _STANDS_OUT)
        lift = np.where(named, weights - even, 0.0) * share[:, None]
        for i, j in _largest(lift, count):
            link = AttentionLink(
                view.words[i], view.words[j], float(weights[i, j]), name, view.name, _steps(view, i, j)
            )
            found.append((float(lift[i, j]), link))
    found.sort(key=lambda item: -item[0])
    return [link for _, link in found[:count]]


def _steps(view: SentenceView, i: int, j: int) -> int | None:
    steps = -1 if view.tree_distance is None else int(view.tree_distance[i, j])
    return None if steps < 1 else steps


def opened_against(view: SentenceView, name: str) -> Array | None:
    """Return the cells of a map that are open only because a mask selector chose them, [n, n] bool.

    Args:
        view: the sentence.
        name: caption of the map.

    Returns:
        Cells against the map's direction that were chosen; None without a direction, or without a selector that opens
        (ReSAN's closes).
    """
    against = _against(view, name)
    if view.chosen is None or against is None or not _opens(view):
        return None
    return against(view.chosen)


def _against(view: SentenceView, name: str) -> Callable[[Array], Array] | None:
    """Return what leaves only the cells against a map's direction; None without a direction."""
    return _AGAINST.get(view.places[name].rule) if name in view.places else None


def _opens(view: SentenceView) -> bool:
    """Whether a word looks anywhere that its map's direction does not show."""
    directed = [(_against(view, name), weights) for name, weights in view.maps.items()]
    return any(against(weights).any() for against, weights in directed if against is not None)


def selection(view: SentenceView) -> str:
    """Return in words what a mask selector chose; empty without one."""
    if view.chosen is None:
        return ""
    n = len(view.words)
    possible = n * (n - 1)
    if not view.chosen.any():
        return f"none of {possible} pairs" if possible else "no pair"
    rows, columns = (_listed(view.words, np.atleast_1d(view.chosen.any(axis=axis))) for axis in (1, 0))
    return f"{int(view.chosen.sum())} of {possible} pairs; looking: {rows}; seen: {columns}"


def _listed(words: Sequence[str], chosen: Array, most: int = 10) -> str:
    named = [word for word, is_chosen in zip(words, chosen, strict=True) if is_chosen]
    more = f" and {len(named) - most} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more


def maps_to_draw(view: SentenceView) -> tuple[list[str], str]:
    """Choose the maps of a figure: all, or of a deep stack the last layer's.

    Args:
        view: the sentence.

    Returns:
        Names of the maps, and what was left out, in words; empty if nothing was.
    """
    layers = by_layer(view)
    if len(view.maps) <= MANY or len(layers) == 1:
        return list(view.maps), ""
    last = list(layers)[-1]
    return layers[last], f"the maps of {last}, of {len(layers)} layers"


def maps_beside(count: int) -> int:
    """Return how many of so many maps are to fit beside each other: of more than four, as in MS-SAN, three."""
    return 3 if count > 4 else 1


def by_layer(view: SentenceView) -> dict[str, list[str]]:
    """Group the captions of the maps by layer, as "layer 1"; those of a single layer under ""."""
    groups: dict[str, list[str]] = {}
    for name in view.maps:
        layer = view.places[name].layer if name in view.places else None
        groups.setdefault("" if layer is None else f"layer {layer}", []).append(name)
    return groups


def strongest_alignments(explanation: ExplanationRecord, count: int = 6) -> list[AttentionLink]:
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
            links.append(AttentionLink(first.words[i], second.words[j], float(weights[i, j]), name, both))
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
        fusion={name: share[kept] for name, share in view.fusion.items()},
    )
    return short, tuple(kept.tolist())


def cell_number(weight: float) -> str:
    """Return what stands in the cell of a weight: two digits without the zero, 1, or nothing below half a percent."""
    if weight < 0.005:
        return ""
    return "1" if weight >= 0.995 else f"{weight:.2f}".removeprefix("0")


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
