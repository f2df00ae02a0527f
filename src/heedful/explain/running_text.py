"""A text in HTML with its words marked by what they weigh or contribute."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from heedful.explain.signed_words import framed_words, signed_word
from heedful.explain.style import LEVELS
from heedful.explain.summary import LONG
from heedful.text.characters import visible

if TYPE_CHECKING:
    from heedful.explain.attribution import Attribution
    from heedful.explain.explanation_record import SentenceView


def running_text(view: SentenceView, attribution: Attribution | None = None, side: int = 0) -> str:
    """Mark the words of a text in HTML by their character spans.

    Args:
        view: the sentence.
        attribution: what each word contributes, which colors the words; None to shade them by their weights.
        side: which of the sides the sentence is.

    Returns:
        HTML without a surrounding element; empty for an empty text. What was cut off is grayed.
    """
    numbered = _numbered(view) if attribution is None else set()
    frames = {} if attribution is None else framed_words(attribution, side)
    parts, place, open_until = list[str](), 0, 0
    for i, (start, end) in _in_order(view):
        parts.append(_escaped(view.text[place:start]))
        if i in frames:
            parts.append('<span class="together">')
            open_until = frames[i]
        signed = None if attribution is None else signed_word(attribution, side, i)
        parts.append(_marked_word(view, i, view.text[start:end], i in numbered, signed))
        if open_until == i + 1:
            parts.append("</span>")
        place = end
    rest = _escaped(view.text[place:])
    parts.append(
        f'<span class="unread" title="not read">{rest}</span>' if view.truncated and rest.strip() else rest
    )
    return "".join(parts)


def _in_order(view: SentenceView) -> Iterator[tuple[int, tuple[int, int]]]:
    return ((i, span) for i, span in enumerate(view.spans) if span[1] > span[0])


def _marked_word(
    view: SentenceView, i: int, text: str, numbered: bool, signed: tuple[str, str] | None
) -> str:
    classes, title, number = ["w"], [], ""
    if view.weights is not None:
        weight, largest = float(view.weights[i]), float(view.weights.max())
        if signed is None:
            classes.append(f"t{round((LEVELS - 1) * max(weight, 0.0) / largest) if largest > 0 else 0}")
        title.append(f"weight {weight:.3f}")
        number = f' data-w="{100 * weight:.0f}"' if numbered else ""
    if signed is not None:
        classes.append(signed[0])
        title.insert(0, signed[1])
    title += [f"gate {name} {gate[i]:.2f}" for name, gate in view.gates.items()]
    if view.unknown[i]:
        classes.append("unknown")
        title.append("unknown to the model")
    tip = escape(visible(", ".join(title)))
    return f'<bdi class="{" ".join(classes)}" title="{tip}"{number}>{_escaped(text)}</bdi>'


def _numbered(view: SentenceView) -> set[int]:
    """Choose the words whose weight is written below them: the heaviest quarter of a sentence, at least three."""
    if view.weights is None or len(view.words) > LONG:
        return set()
    count = max(3, len(view.words) // 4)
    heaviest = (-view.weights).argsort(kind="stable")[:count].tolist()
    return {i for i in heaviest if view.weights[i] >= 0.005}


def _escaped(text: str) -> str:
    return escape(visible(text, one_line=False))
