"""Sections of the explanation page: single features of one word, and how a policy opened masks.

A row of a feature's picture is a feature, and a column is a word that it sees. For a policy, the page shows the
probabilities, the choices, and the masks before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heedful.explain.html_pictures import attention_key, figure_with_width, panels, weight_tip
from heedful.explain.page_frame import safe
from heedful.explain.summary import KEPT, LONG, Grid
from heedful.explain.svg import Geometry, heat_map
from heedful.text.characters import shorten, visible

if TYPE_CHECKING:
    from heedful.explain.explanation_record import Array
    from heedful.explain.html_pictures import Drawing
    from heedful.explain.policy_steps import PolicySteps
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
    word = safe(shorten(visible(features.word), 40))
    names = [f"Sentence {number}" for number in range(1, len(features.sentences) + 1)]
    listed = "".join(
        f'<p class="note">{name}: <bdi>{safe(" ".join(words))}</bdi></p>'
        for name, words in zip(names, features.sentences, strict=True)
    )
    parts = [_of_map(features, each, names) for each in features.maps]
    if features.shares is not None:
        parts.append(_of_shares(features, features.shares, names))
    return (
        f"<section><h2>“{word}”, feature by feature</h2>{listed}{attention_key()}{''.join(parts)}</section>"
    )


def _of_map(features: WordFeatures, each: FeatureMap, names: Sequence[str]) -> str:
    title = f'<h3 style="margin-top:20px">Attention, {safe(each.name)}</h3>'
    if each.alike:
        alike = (
            f"All {each.count} {each.axis} agree: here the word sees no other word, or a single one."
            if any(mean.max(initial=0.0) < 1e-9 or mean.max() > 1 - 1e-6 for mean in each.means)
            else f"All {each.count} {each.axis} agree."
        )
        return f'{title}<p class="note">{safe(alike)}</p>'
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
        f'{title}<p class="note">{safe(note)}</p>{panels(drawn)}'
        f'<p class="note">Distance from the mean: {safe(distances)}.</p>'
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


_THIRD = 392
"""Width in pixels of a picture of which three fit beside each other."""
_WORDS = (
    "The probability that the policy chooses a word as a query, which looks, and as a key, which is looked at. In "
    "evaluation it chooses what is more probable than not."
)
_PAIRS = (
    "A row is a query, a column is a key: the product of both probabilities. Outlined are the pairs that the policy "
    "opened, because it chose both words."
)
_FIRST = "{} words only: what the {} attentions may see without a policy."
_FINAL = "The first {} mask with the opened pairs. Outlined pairs are open only because of the policy."


def policy_section(whole: PolicySteps) -> str:
    """Draw how the masks of a sentence were opened, step by step.

    Args:
        whole: the steps; of a long sentence the words are drawn that the policy chooses most probably.

    Returns:
        HTML of a section, all text escaped; empty for a sentence without words.
    """
    if not whole.words:
        return ""
    steps, short = whole, ""
    if len(whole.words) > LONG:
        best = np.argsort(-np.maximum(whole.query, whole.key), kind="stable")[:KEPT].tolist()
        steps = whole.of_words(sorted(best))
        short = (
            f'<p class="warn">The text has {len(whole.words)} words. The pictures show the {KEPT} words that the '
            "policy chooses most probably, in text order.</p>"
        )
    later = {"forward": "Earlier", "backward": "Later"}
    masks = []
    for direction, seen in later.items():
        first, final = (steps.mask(direction, final=final) for final in (False, True))
        note = _FIRST.format(seen, direction)
        masks.append(_mask(steps, f"First {direction} mask", note, first, None))
        masks.append(_mask(steps, f"Final {direction} mask", _FINAL.format(direction), final, final & ~first))
    possible = max(len(whole.words) * (len(whole.words) - 1), 1)
    share = f"It opened {int(whole.opened.sum())} of {possible} pairs of different words."
    return (
        f"<section><h2>How the policy opened the masks of the {safe(whole.name)}</h2>"
        f'<p class="note">{share}</p>{short}{attention_key("probability")}'
        f"{panels([_words(steps), _pairs(steps)])}{panels(masks)}</section>"
    )


def _words(steps: PolicySteps) -> Drawing:
    values, columns = np.stack([steps.query, steps.key], axis=1), ("as a query", "as a key")
    return _drawn("1. Words", _WORDS, steps, columns, values, None)


def _pairs(steps: PolicySteps) -> Drawing:
    return _drawn("2. Pairs", _PAIRS, steps, steps.words, steps.pairs, steps.opened)


def _drawn(
    title: str, note: str, steps: PolicySteps, columns: Sequence[str], values: Array, outlined: Array | None
) -> Drawing:
    geometry = Geometry.of(steps.words, columns, 1.5 * _THIRD)
    panel = heat_map(
        Grid(steps.words, columns, values, outlined),
        geometry,
        weight_tip(steps.words, columns, values, "←" if columns == steps.words else "chosen"),
        empty="not chosen",
        name=f"{title}, {steps.name}",
    )
    return figure_with_width(title, note, panel)


def _mask(steps: PolicySteps, title: str, note: str, mask: Array, outlined: Array | None) -> Drawing:
    geometry = Geometry.of(steps.words, steps.words, _THIRD)
    panel = heat_map(
        Grid(steps.words, steps.words, mask.astype(float), outlined, numbers=False),
        geometry,
        lambda i, j: f"{steps.words[i]} may look at {steps.words[j]}",
        empty="sees no word",
        name=f"{title}, {steps.name}",
    )
    return figure_with_width(f"3. {title}", note, panel)
