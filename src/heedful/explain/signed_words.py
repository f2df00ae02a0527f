"""What each word contributes, in colour on the text itself: for a page and for a terminal. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from heedful.text.characters import cells, pad, shorten, visible

if TYPE_CHECKING:
    from heedful.explain.attribution import Attribution
    from heedful.explain.explanation import SentenceView

SIGNED_LEVELS = 6
"""Shades of each colour; `style.py` defines as many classes."""
_SHOWN = 10
_FOR, _AGAINST, _PLAIN = "\x1b[44;97m", "\x1b[43;30m", "\x1b[0m"
_FAINT = 0.2
"""Below this share of the largest contribution a word has no colour on a terminal."""


def signed_level(value: float, largest: float) -> int:
    """Return the shade of a contribution, from -`SIGNED_LEVELS` to `SIGNED_LEVELS`; 0 for less than half a step."""
    return round(SIGNED_LEVELS * value / largest) if largest > 0 else 0


def number(value: float, error: float | None = None) -> str:
    """Write a contribution with its sign, and its standard error where it has one.

    >>> number(0.125), number(-0.5, 0.02)
    ('+0.12', '-0.50 ± 0.02')
    """
    shown = f"{value:+.2f}"
    return shown if not error else f"{shown} ± {error:.2f}"


def strongest(
    attribution: Attribution, views: Sequence[SentenceView]
) -> list[tuple[str, float, float | None]]:
    """Return the words that contribute most, for or against, with standard errors.

    Args:
        attribution: what each word contributes.
        views: the sides.

    Returns:
        Word, contribution and error, the largest contribution first; those that would show as 0.00 are left out.
    """
    found = []
    for side, (view, values) in enumerate(zip(views, attribution.values, strict=True)):
        errors = attribution.errors[side] if attribution.errors else None
        for i, (word, value) in enumerate(zip(view.words, values.tolist(), strict=True)):
            name = word if len(views) == 1 else f"{word} ({view.name})"
            found.append((name, value, None if errors is None else float(errors[i])))
    found = [each for each in found if abs(each[1]) >= 0.005]
    return sorted(found, key=lambda each: -abs(each[1]))[:_SHOWN]


def signed_section(attribution: Attribution, views: Sequence[SentenceView]) -> str:
    """Write the words that contribute most as a section of a page, with what the numbers mean.

    Args:
        attribution: what each word contributes.
        views: the sides.

    Returns:
        HTML, all text escaped.
    """
    largest = attribution.largest
    rows = "".join(
        f'<tr><td><bdi>{escape(shorten(visible(word), 40))}</bdi></td><td class="bar">{_bar(value, largest)}</td>'
        f'<td class="r">{number(value, error)}</td></tr>'
        for word, value, error in strongest(attribution, views)
    )
    table = f"<table><tr><th>word</th><th></th><th>contribution</th></tr>{rows}</table>" if rows else ""
    return (
        f"<section><h2>What each word contributes: {escape(attribution.method)}</h2>"
        f'<p class="note">{escape(attribution.legend)} {_LIMIT}</p>{table}</section>'
    )


_LIMIT = "A text without some of its words is no text that the model was trained on; that limits every such number."


def signed_key(attribution: Attribution) -> str:
    """Return the legend of the colours behind the words of a page, as HTML."""
    scale = "".join(
        f'<b class="{_class(level)}"></b>' for level in range(-SIGNED_LEVELS, SIGNED_LEVELS + 1, 2)
    )
    of = escape(visible(attribution.of))
    return (
        f'<span class="signed-key">against {scale} for</span> Blue words speak for the prediction, orange words '
        f"against it ({escape(attribution.method)}). The darkest shade is a contribution of {attribution.largest:.2f} "
        f"to {of}."
    )


def signed_word(attribution: Attribution, side: int, i: int) -> tuple[str, str]:
    """Return the class of the colour behind a word, and what is said of the word when one points at it."""
    value = float(attribution.values[side][i])
    error = float(attribution.errors[side][i]) if attribution.errors else None
    return _class(signed_level(value, attribution.largest)), f"contribution {number(value, error)}"


def _class(level: int) -> str:
    return f"p{level}" if level > 0 else f"n{-level}" if level < 0 else "z"


def _bar(value: float, largest: float) -> str:
    width = 50 * min(abs(value) / largest, 1.0) if largest else 0.0
    left = 50.0 if value >= 0 else 50 - width
    kind = "for" if value >= 0 else "against"
    return f'<span class="track-box signed"><i class="{kind}" style="left:{left:.1f}%;width:{width:.1f}%"></i></span>'


def signed_lines(
    attribution: Attribution, views: Sequence[SentenceView], width: int, *, colour: bool
) -> list[str]:
    """Write what each word contributes for a terminal.

    Args:
        attribution: what each word contributes.
        views: the sides.
        width: columns.
        colour: whether to colour the words of the texts; words against the prediction have another colour.

    Returns:
        A title, the texts in colour where that is wanted, a line for each of the strongest words, and the legend.
    """
    lines = [f"contributions ({attribution.method})"]
    if colour:
        for side, view in enumerate(views):
            lines += list(_coloured(attribution, side, view.words, width - 2))
        lines.append("  \x1b[44;97m for \x1b[0m \x1b[43;30m against \x1b[0m the prediction")
    shown = strongest(attribution, views)
    room = min(max([cells(visible(word)) for word, _, _ in shown], default=0), width - 40)
    for word, value, error in shown:
        size = round(12 * abs(value) / attribution.largest)
        bar = ("-" if value < 0 else "+") * max(size, 1)
        lines.append(f"  {pad(shorten(visible(word), room), room)} {pad(number(value, error), 14)} {bar}")
    if not shown:
        lines.append("  no word contributes as much as 0.005")
    return [*lines, *wrap(attribution.legend, width, initial_indent="  ", subsequent_indent="  ")]


def _coloured(attribution: Attribution, side: int, words: Sequence[str], width: int) -> Iterator[str]:
    line, used = "", 0
    for word, value in zip(words, attribution.values[side].tolist(), strict=True):
        said = visible(word)
        if used and used + cells(said) + 1 > width:
            yield "  " + line.rstrip()
            line, used = "", 0
        strong = attribution.largest > 0 and abs(value) >= _FAINT * attribution.largest
        mark = (_FOR if value > 0 else _AGAINST) if strong else ""
        line += f"{mark}{said}{_PLAIN if mark else ''} "
        used += cells(said) + 1
    yield "  " + line.rstrip()


def signed_colours(values: np.ndarray, largest: float) -> list[tuple[str, str]]:
    """Return for each contribution the colour behind a word of a figure and that of its letters."""
    levels = [signed_level(float(value), largest) for value in values]
    return [(_mixed(level), "#ffffff" if abs(level) > 4 else "#16202b") for level in levels]


FOR_COLOUR, AGAINST_COLOUR = "#1f68ad", "#c2570c"
"""A blue and an orange that the colour-blind tell apart."""


def _mixed(level: int) -> str:
    end = FOR_COLOUR if level > 0 else AGAINST_COLOUR
    share = abs(level) / SIGNED_LEVELS
    parts = (int(end[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)
