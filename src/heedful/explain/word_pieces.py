"""Explanations of the pieces of words, which a pretrained encoder reads, told of the words themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heedful.explain.explanation import Explanation
from heedful.explain.explanation_record import Array, SentenceView

_MAP = " A word looks with the mean of its word pieces and is looked at with their sum."
_MEAN = " Of a word in pieces it is their mean."
_SUM = " A word's weight is the sum of those of its word pieces."
_SUMMARY = (
    " The other part of the sentence vector is the pretrained encoder's own summary ([CLS]), "
    "which is no single word's."
)


def on_words(
    explanation: Explanation,
    views: Sequence[SentenceView],
    places: Sequence[NDArray[np.int64]],
    *,
    summary: bool = False,
) -> Explanation:
    """Turn an explanation of word pieces into one of their words.

    Attention from a word is the mean over its pieces and attention to a word the sum over its pieces, so that rows
    still sum to 1. A word's weight is the sum over its pieces, its gate their mean; the distance of two words is that
    of their pieces; a pair of words was opened if any pair of their pieces was.

    Args:
        explanation: of pieces: the words of its sides are pieces.
        views: the words of each side, with nothing that was looked at.
        places: for each side the place of each piece's word among these words, [L] int64; every word has a piece.
        summary: whether the sentence vector has a part that is no word's, the encoder's [CLS].

    Returns:
        The explanation of words, its notes saying how pieces were joined.
    """
    joins = [
        (np.arange(len(view.words))[:, None] == place).astype(np.float64)
        for view, place in zip(views, places, strict=True)
    ]
    sides = tuple(
        _joined(of_pieces, view, join)
        for of_pieces, view, join in zip(explanation.sides, views, joins, strict=True)
    )
    alignments = {name: _between(values, *joins) for name, values in explanation.alignments.items()}
    notes = explanation.notes
    if any(len(place) > len(view.words) for view, place in zip(views, places, strict=True)):
        notes = {name: note + _remark(name) for name, note in notes.items()}
    if summary and "weights" in notes:
        notes = {**notes, "weights": notes["weights"] + _SUMMARY}
    return replace(explanation, sides=sides, alignments=alignments, notes=notes)


def _joined(of_pieces: SentenceView, view: SentenceView, join: Array) -> SentenceView:
    mean = _mean(join)
    first = join.argmax(axis=1) if join.size else np.zeros(0, np.int64)
    tree, chosen, weights = of_pieces.tree_distance, of_pieces.chosen, of_pieces.weights
    return replace(
        view,
        maps={name: mean @ values @ join.T for name, values in of_pieces.maps.items()},
        gates={name: mean @ values for name, values in of_pieces.gates.items()},
        fusion={name: mean @ values for name, values in of_pieces.fusion.items()},
        places=of_pieces.places,
        weights=None if weights is None else join @ weights,
        tree_distance=None if tree is None else tree[np.ix_(first, first)],
        chosen=None if chosen is None else (join @ chosen @ join.T) > 0,
    )


def _between(values: Array, first: Array, second: Array) -> Array:
    """Join an alignment; whichever side looks, which is the one whose sums are 1, is averaged."""
    second_looks = values.size and np.allclose(values.sum(axis=0), 1, atol=0.02)
    rows, columns = (first, _mean(second)) if second_looks else (_mean(first), second)
    joined: Array = rows @ values @ columns.T
    return joined


def _mean(join: Array) -> Array:
    mean: Array = join / np.maximum(join.sum(axis=1, keepdims=True), 1)
    return mean


def _remark(name: str) -> str:
    kind = name.partition(" ")[0]
    return {"map": _MAP, "alignment": _MAP, "gate": _MEAN, "fusion": _MEAN, "weights": _SUM}.get(kind, "")
