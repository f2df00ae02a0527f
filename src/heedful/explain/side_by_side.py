"""Show two explanations of one text on one page: the predictions, and the gates of both systems word by word."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING

import numpy as np

from heedful.errors import UsageError
from heedful.explain.html import headline, probability_table, reading_of, sections_of
from heedful.explain.html_pictures import figure_with_width, gate_key, panels
from heedful.explain.page_frame import page_of, safe
from heedful.explain.summary import focus
from heedful.explain.svg import Geometry, word_bars
from heedful.storage import write_text
from heedful.storage.checked_paths import checked_path
from heedful.text.characters import shorten, visible

if TYPE_CHECKING:
    from heedful.explain.explanation import Explanation
    from heedful.explain.explanation_record import SentenceView

Explained = Mapping[str, "Explanation"]
"""Explanations of one text or one pair by the names of their models."""
_NOTE = (
    "Each bar is the fusion gate of one word, averaged over features: 1 (blue) keeps the meaning of the word itself, "
    "0 (orange) takes its context. Systems whose gates are alike can still differ in everything else."
)

_SAME = 0.005


def write_side_by_side(explained: Explained, path: Path | str) -> Path:
    """Write the page of several models, atomically.

    Args:
        explained: explanations of one text or one pair by the names of their models.
        path: the file.

    Returns:
        The file.

    Raises:
        OutputError: if it cannot be written.
        UsageError: if the explanations are not of the same texts.
    """
    path = checked_path(path, "path")
    write_text(path, render_side_by_side(explained))
    return path


def render_side_by_side(explained: Explained) -> str:
    """Render explanations of one text by several models as one self-contained page.

    The page holds the predictions, the texts as each model weighs their words, the gates of all systems beside each
    other, and folded away everything that the page of each model holds. Like that page it has no script.

    Args:
        explained: explanations of one text or one pair by the names of their models.

    Returns:
        The page.

    Raises:
        UsageError: if there are fewer than two explanations, more than 26, or they are not of the same texts.
    """
    texts = {tuple(view.text for view in each.sides) for each in explained.values()}
    if not 2 <= len(explained) <= len(ascii_uppercase) or len(texts) > 1:
        raise UsageError(
            f"expected two or more explanations of the same texts; got {len(explained)} of {len(texts)} different texts"
        )
    lettered = {
        letter: (name, each) for letter, (name, each) in zip(ascii_uppercase, explained.items(), strict=False)
    }
    sections = [_top(lettered)]
    sections += [_gates(lettered, side) for side in range(len(next(iter(texts))))]
    sections += [_whole(letter, name, each) for letter, (name, each) in lettered.items()]
    answers = ", ".join(f"{headline(each)[0]} ({name})" for name, each in explained.items())
    return page_of(f"{answers}: models side by side by Heedful", sections)


_Lettered = Mapping[str, tuple[str, "Explanation"]]


def _top(lettered: _Lettered) -> str:
    columns = []
    for letter, (name, each) in lettered.items():
        what, how = headline(each)
        method = f" · {safe(each.method)}" if each.method else ""
        columns.append(
            f'<div><p class="eyebrow">{letter} · {safe(name)}{method}</p><h2>{safe(what)} {safe(how)}</h2>'
            f'{probability_table(each)}<div style="margin-top:18px">{reading_of(each)}</div></div>'
        )
    said = {headline(each)[0] for _, each in lettered.values()}
    agree = "The models agree" if len(said) == 1 else "The models disagree"
    scores = any(each.score is not None for _, each in lettered.values())
    title = "Models side by side" if scores else agree
    return (
        f'<header><h1>{title}</h1></header><div class="pair" style="margin-top:22px">{"".join(columns)}</div>'
    )


def _gates(lettered: _Lettered, side: int) -> str:
    """Draw the gates of all models for one text: together where the models read the same words."""
    views = {letter: focus(each.sides[side])[0] for letter, (_, each) in lettered.items()}
    gated = {letter: view for letter, view in views.items() if view.gates and view.words}
    if not gated:
        return ""
    figures = []
    for words in dict.fromkeys(view.words for view in gated.values()):
        same = {letter: view for letter, view in gated.items() if view.words == words}
        bars = {
            f"{letter} {name}": gate for letter, view in same.items() for name, gate in view.gates.items()
        }
        geometry = Geometry.of(words, words)
        name = next(iter(same.values())).name
        drawn = word_bars(words, bars, None, geometry, f"gates of {', '.join(same)}, {name}")
        figures.append(figure_with_width(_named(lettered, same), _difference(same), drawn))
    without = [letter for letter in views if letter not in gated]
    missing = f'<p class="note">{", ".join(without)}: no gates.</p>' if without else ""
    name = next(iter(gated.values())).name
    return (
        f'<section><h2>Gates side by side, {safe(name)}</h2><p class="note">{escape(_NOTE)}</p>{gate_key()}'
        f"{panels(figures)}{missing}</section>"
    )


def _named(lettered: _Lettered, shown: Mapping[str, SentenceView]) -> str:
    return ", ".join(f"{letter}: {shorten(visible(lettered[letter][0]), 40)}" for letter in shown)


def _difference(views: Mapping[str, SentenceView]) -> str:
    """Name the word whose gates of one name differ most between the first model and any other."""
    (first, view), *others = views.items()
    found = [
        (abs(float(gate[i] - view.gates[name][i])), name, i, letter, other)
        for letter, other in others
        for name, gate in other.gates.items()
        if name in view.gates
        for i in [int(np.argmax(np.abs(gate - view.gates[name])))]
    ]
    if not found:
        return ""
    size, name, i, letter, other = max(found, key=lambda each: each[0])
    if size < _SAME:
        return "Gates of the same name are the same."
    return (
        f"The largest difference: “{shorten(view.words[i], 24)}”, {name}: {first} {view.gates[name][i]:.2f}, "
        f"{letter} {other.gates[name][i]:.2f}."
    )


def _whole(letter: str, name: str, explanation: Explanation) -> str:
    inside = "\n".join(section for section in sections_of(explanation) if section)
    summary = f"{letter} · {safe(name)}: the whole explanation"
    return f"<section><details><summary>{summary}</summary>{inside}</details></section>"
