"""Draw single features of one word for the explanation page: a row is a feature, a column is a word that it sees."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from heedful.explain.html_pictures import attention_key, figure_with_width, panels, weight_tip
from heedful.explain.summary import KEPT, LONG, Grid
from heedful.explain.svg import Geometry, heat_map
from heedful.text.characters import shorten, visible

if TYPE_CHECKING:
    from heedful.explain.explanation import Array
    from heedful.explain.word_features import FeatureMap, FeatureShares, WordFeatures

_WIDEST = 603
"""Width in pixels of a picture of which two fit beside each other."""
_MAP_NOTE = (
    "How much “{word}” takes from each word. These {kept} of {count} {axis} differ most from the mean, "
    "which is the first row; the distance is half of the sum of the absolute differences (0 to 1)."
)
_SHARES_NOTE = (
    "The weight of “{word}” in single features of the sentence vector. {order} The first column is the mean over all "
    "{count} features."
)
_BETWEEN = "Shown are the features in which its weight differs most between the sentences."
_ALONE = "Shown are the features in which its weight is farthest from the mean."


def features_section(features: WordFeatures) -> str:
    """Draw single features of one word in every sentence that has it.

    Args:
        features: of the word.

    Returns:
        HTML of a section, all text escaped.
    """
    word = _safe(shorten(visible(features.word), 40))
    names = [f"Sentence {number}" for number in range(1, len(features.sentences) + 1)]
    listed = "".join(
        f'<p class="note">{name}: <bdi>{_safe(" ".join(words))}</bdi></p>'
        for name, words in zip(names, features.sentences, strict=True)
    )
    parts = [_of_map(features, each, names) for each in features.maps]
    if features.shares is not None:
        parts.append(_of_shares(features, features.shares, names))
    return (
        f"<section><h2>“{word}”, feature by feature</h2>{listed}{attention_key()}{''.join(parts)}</section>"
    )


def _of_map(features: WordFeatures, each: FeatureMap, names: Sequence[str]) -> str:
    title = f'<h3 style="margin-top:20px">Attention, {_safe(each.name)}</h3>'
    if each.alike:
        alike = (
            f"All {each.count} {each.axis} agree: here the word sees no other word, or a single one."
            if any(mean.max(initial=0.0) < 1e-9 or mean.max() > 1 - 1e-6 for mean in each.means)
            else f"All {each.count} {each.axis} agree."
        )
        return f'{title}<p class="note">{_safe(alike)}</p>'
    words = shorten(visible(features.word), 40)
    note = _MAP_NOTE.format(word=words, kept=len(each.features), count=each.count, axis=each.axis)
    rows = ["mean", *(f"{each.unit} {number}" for number in each.features)]
    drawn = []
    for name, sentence, weights, mean in zip(
        names, features.sentences, each.weights, each.means, strict=True
    ):
        values = np.vstack([mean, weights])
        seen = _columns(values)
        columns, values = [sentence[j] for j in seen], values[:, seen]
        geometry = Geometry.of(rows, columns, _WIDEST)
        tip = weight_tip(rows, columns, values, "→")
        panel = heat_map(Grid(rows, columns, values), geometry, tip, name=f"{each.name}, {words}, {name}")
        short = f"The {len(seen)} words with the largest weights." if len(seen) < len(sentence) else ""
        drawn.append(figure_with_width(name, short, panel))
    distances = ", ".join(f"{row} {value:.2f}" for row, value in zip(rows[1:], each.distances, strict=True))
    return (
        f'{title}<p class="note">{_safe(note)}</p>{panels(drawn)}'
        f'<p class="note">Distance from the mean: {_safe(distances)}.</p>'
    )


def _of_shares(features: WordFeatures, shares: FeatureShares, names: Sequence[str]) -> str:
    order = _BETWEEN if len(names) > 1 else _ALONE
    word = shorten(visible(features.word), 40)
    note = _SHARES_NOTE.format(word=word, order=order, count=shares.count)
    columns = ["mean", *(f"feature {number}" for number in shares.features)]
    values = np.hstack([np.array(shares.means)[:, None], shares.weights])
    geometry = Geometry.of(names, columns, _WIDEST)
    panel = heat_map(
        Grid(names, columns, values),
        geometry,
        weight_tip(names, columns, values, ","),
        name=f"source2token, {word}",
    )
    drawn, _ = figure_with_width("Sentence vector (source2token)", note, panel)
    return f'<div style="margin-top:20px">{drawn}</div>'


def _columns(values: Array) -> list[int]:
    """Return the words that are drawn: all of a usual sentence, of a long one those with the largest weights."""
    if values.shape[1] <= LONG:
        return list(range(values.shape[1]))
    best: list[int] = np.argsort(-values.max(axis=0), kind="stable")[:KEPT].tolist()
    return sorted(best)


def _safe(text: str) -> str:
    return escape(visible(text))
