"""Draw for the explanation page how a policy opened masks: probabilities, choices, and masks before and after."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from heedful.explain.html_pictures import attention_key, figure_with_width, panels, weight_tip
from heedful.explain.summary import KEPT, LONG, Grid
from heedful.explain.svg import Geometry, heat_map
from heedful.text.characters import visible

if TYPE_CHECKING:
    from heedful.explain.explanation import Array
    from heedful.explain.html_pictures import Drawing
    from heedful.explain.policy_steps import PolicySteps

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
        f"<section><h2>How the policy opened the masks of the {_safe(whole.name)}</h2>"
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


def _safe(text: str) -> str:
    return escape(visible(text))
