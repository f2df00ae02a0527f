"""What each word contributes, in color on the text itself and as lines that add up: for a page and for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from heedful.explain.page_frame import safe
from heedful.explain.scene import (
    COUNTED_KINDS,
    Line,
    across_of,
    lines_of,
    longest_bar,
    note_on_bars,
    phrases_of,
)
from heedful.explain.style import SIGNED_LEVELS
from heedful.tables import page_table, percent
from heedful.text.characters import cells, pad, shorten, visible

if TYPE_CHECKING:
    from heedful.explain.attribution import Across, Attribution
    from heedful.explain.explanation_record import SentenceView

_FOR, _AGAINST, _PLAIN = "\x1b[44;97m", "\x1b[43;30m", "\x1b[0m"
_FAINT = 1
"""The shade from which a word has a color on a terminal."""
_BAR, _NAME = 12, 34
"""Cells of the longest bar, and of the longest name of a line, on a terminal."""


def signed_level(value: float, reach: float) -> int:
    """Return the shade of a contribution, from -`SIGNED_LEVELS` to `SIGNED_LEVELS`; 0 for less than half a step."""
    return round(SIGNED_LEVELS * max(-1.0, min(1.0, value / reach)))


def number(value: float, error: float | None = None) -> str:
    """Write a contribution with its sign, and its standard error where it has one.

    >>> number(0.125), number(-0.5, 0.02), number(12345.678), number(-0.0001)
    ('+0.12', '-0.50 ± 0.02', '+12,346', '0.00')
    """
    shown = f"{value:+.2f}" if abs(value) < 1000 else f"{value:+,.0f}"
    shown = "0.00" if shown in ("+0.00", "-0.00") else shown
    return shown if not error else f"{shown} ± {error:.2f}"


def sum_of(attribution: Attribution) -> str:
    """Write the number that everything adds up to, and the probability that it is."""
    shown = number(attribution.whole)
    if attribution.probability is None:
        return shown
    share = percent(attribution.probability)
    return f"{shown} = {share}" if share[0].isdigit() else f"{shown}, {share}"


def title_of(attribution: Attribution, *, answered: bool = True) -> str:
    """Return the title of a picture: what is explained, and whether it is what the model answers."""
    if attribution.is_log_odds:
        return f"{'Why' if answered else 'Why not'} “{shorten(visible(attribution.label), 60)}”"
    return f"What raises and what lowers {visible(attribution.of)}"


def signed_section(attribution: Attribution, views: Sequence[SentenceView], *, answered: bool = True) -> str:
    """Write what each word contributes as a section of a page: lines that add up, and what the numbers mean.

    Args:
        attribution: what each word contributes.
        views: the sides.
        answered: whether it is what the model answers.

    Returns:
        HTML, all text escaped.
    """
    method = "" if attribution.method == "contributions" else f" ({escape(attribution.method)})"
    title = escape(title_of(attribution, answered=answered))
    return (
        f"<section><h2>{title}{method}</h2>{signed_table(attribution, views)}"
        f'<p class="note">{escape(attribution.legend)}</p></section>'
    )


def signed_table(attribution: Attribution, views: Sequence[SentenceView]) -> str:
    """Write the lines of a picture of contributions as a table; see `signed_section`."""
    lines = lines_of(attribution, views)
    longest = longest_bar(lines, attribution.reach)
    rows = (_row(line, attribution, longest) for line in lines)
    marks = ["sum" if line.kind == "sum" else "" if line.kind in COUNTED_KINDS else "soft" for line in lines]
    head = ("word", _SIZE, "log-odds" if attribution.is_log_odds else "change")
    said = note_on_bars(lines, attribution.reach)
    note = f'<p class="note">{said}</p>' if said else ""
    table = page_table(head, rows, _KINDS, marks=marks, name="signed")
    return f"{table}{note}{_across_table(attribution, views)}"


_SIZE = '<span class="unseen">size</span>'
_KINDS = ("", "bar", "r")


def _across_table(attribution: Attribution, views: Sequence[SentenceView]) -> str:
    """Write the words of both texts of a pair that count together."""
    found = across_of(attribution)
    if not found:
        return ""
    longest = max(attribution.reach, abs(found[0].value))
    rows = (
        [f"<bdi>{escape(one)}</bdi> ↔ <bdi>{escape(other)}</bdi>", _bar(value, longest), number(value)]
        for one, other, value in _linked(found, views)
    )
    table = page_table(("words of both texts", _SIZE, "together"), rows, _KINDS, name="signed across")
    return f'{table}<p class="note">{ACROSS}</p>'


ACROSS = "What words of both texts add only together; their numbers above share it already."


def _linked(found: Sequence[Across], views: Sequence[SentenceView]) -> Iterator[tuple[str, str, float]]:
    for each in found:
        words = (views[0].words[each.first], views[-1].words[each.second])
        one, other = (shorten(visible(word), 24) for word in words)
        yield one, other, each.value


def _row(line: Line, attribution: Attribution, longest: float) -> list[str]:
    name = f"<bdi>{escape(shorten(visible(line.name), 60))}</bdi>"
    if line.joint is not None:
        name += f' <span class="muted">together {number(line.joint)}</span>'
    if line.kind == "sum":
        return [name, _exact(line.value, sum_of(attribution))]
    return [name, _bar(line.value, longest), _exact(line.value, number(line.value, line.error))]


def _exact(value: float, shown: str) -> str:
    """Write a number with what it is before it was rounded, for programs that read the page."""
    return f'<data value="{value:.10g}">{shown}</data>'


def signed_key(attribution: Attribution) -> str:
    """Return the legend of the colors behind the words of a page, as HTML."""
    scale = "".join(
        f'<b class="{_class(level)}"></b>' for level in range(-SIGNED_LEVELS, SIGNED_LEVELS + 1, 2)
    )
    up, down = attribution.signs
    reach = f"{attribution.reach:.3g}"
    framed = " Words in a frame count together." if phrases_of(attribution) else ""
    return (
        f'<span class="signed-key">{down} {scale} {up}</span> The darkest shade is a change of {reach} or more in '
        f"{safe(attribution.of)}.{framed}"
    )


def signed_word(attribution: Attribution, side: int, i: int) -> tuple[str, str]:
    """Return the class of the color behind a word, and what is said of the word when one points at it."""
    value = float(attribution.values[side][i])
    error = float(attribution.errors[side][i]) if attribution.errors else None
    return _class(signed_level(value, attribution.reach)), f"contribution {number(value, error)}"


def framed_words(attribution: Attribution, side: int) -> dict[int, int]:
    """Return where words that are shown together begin and end on a side: first word to the one after the last."""
    return {joint.start: joint.end for joint in phrases_of(attribution) if joint.side == side}


def _class(level: int) -> str:
    return f"p{level}" if level > 0 else f"n{-level}" if level < 0 else "z"


def _bar(value: float, longest: float) -> str:
    width = 50 * abs(value) / longest
    left = 50.0 if value >= 0 else 50 - width
    kind = "for" if value >= 0 else "against"
    return f'<span class="track-box signed"><i class="{kind}" style="left:{left:.1f}%;width:{width:.1f}%"></i></span>'


def signed_lines(
    attribution: Attribution,
    views: Sequence[SentenceView],
    width: int,
    *,
    color: bool,
    answered: bool = True,
) -> list[str]:
    """Write what each word contributes for a terminal.

    Args:
        attribution: what each word contributes.
        views: the sides.
        width: columns.
        color: whether to color the words of the texts; words that lower the number have another color.
        answered: whether it is what the model answers.

    Returns:
        A title, the texts in color where that is wanted, lines that add up, and what the numbers mean.
    """
    method = "" if attribution.method == "contributions" else f" ({attribution.method})"
    lines = [title_of(attribution, answered=answered) + method]
    if color:
        up, down = attribution.signs
        for side, view in enumerate(views):
            lines += list(_colored(attribution, side, view.words, width - 2))
        lines.append(f"  {_FOR} {up} {_PLAIN} {_AGAINST} {down} {_PLAIN}")
    shown = lines_of(attribution, views)
    room = min(max(cells(visible(line.name)) for line in shown), _NAME, width - 30)
    longest = longest_bar(shown, attribution.reach)
    lines += [_line(line, attribution, room, longest) for line in shown]
    said = f"{attribution.legend} {note_on_bars(shown, attribution.reach)}".rstrip()
    linked = [
        f"  {one} <-> {other}: together {number(value)}"
        for one, other, value in _linked(across_of(attribution), views)
    ]
    if linked:
        lines += ["  words of both texts that count together, in their numbers already:", *linked]
    return [*lines, *wrap(said, width, initial_indent="  ", subsequent_indent="  ")]


def _line(line: Line, attribution: Attribution, room: int, longest: float) -> str:
    name = pad(shorten(visible(line.name), room), room)
    if line.kind == "sum":
        return f"  {name} {sum_of(attribution)}"
    size = round(_BAR * abs(line.value) / longest)
    bar = ("-" if line.value < 0 else "+") * (max(size, 1) if line.kind in COUNTED_KINDS else size)
    together = "" if line.joint is None else f"  together {number(line.joint)}"
    return f"  {name} {number(line.value, line.error):<{14 if attribution.errors else 7}} {bar}{together}".rstrip()


def _colored(attribution: Attribution, side: int, words: Sequence[str], width: int) -> Iterator[str]:
    line, used = "", 0
    for word, value in zip(words, attribution.values[side].tolist(), strict=True):
        said = visible(word)
        if used and used + cells(said) + 1 > width:
            yield "  " + line.rstrip()
            line, used = "", 0
        strong = abs(signed_level(value, attribution.reach)) >= _FAINT
        mark = (_FOR if value > 0 else _AGAINST) if strong else ""
        line += f"{mark}{said}{_PLAIN if mark else ''} "
        used += cells(said) + 1
    yield "  " + line.rstrip()


def signed_colors(values: np.ndarray, reach: float) -> list[tuple[str, str]]:
    """Return for each contribution the color behind a word of a figure and that of its letters."""
    levels = [signed_level(float(value), reach) for value in values]
    return [(_mixed(level), "#ffffff" if abs(level) > 4 else "#16202b") for level in levels]


FOR_COLOR, AGAINST_COLOR = "#1f68ad", "#c2570c"
"""A blue and an orange that the color-blind tell apart."""


def _mixed(level: int) -> str:
    end = FOR_COLOR if level > 0 else AGAINST_COLOR
    share = abs(level) / SIGNED_LEVELS
    parts = (int(end[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * share):02x}" for part in parts)
