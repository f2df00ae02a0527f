"""The original text with each word shaded by its weight, spacing untouched."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from heedful.explain.characters import visible
from heedful.explain.explanation import SentenceView
from heedful.explain.summary import LONG
from heedful.explain.svg import LEVELS


def running_text(view: SentenceView) -> str:
    """Mark the words of a text in HTML by their character spans.

    Args:
        view: the sentence.

    Returns:
        HTML without a surrounding element; empty for an empty text. What was cut off is greyed.
    """
    numbered = _numbered(view)
    parts, place = [], 0
    for i, (start, end) in _in_order(view):
        parts.append(_escaped(view.text[place:start]))
        parts.append(_word(view, i, view.text[start:end], i in numbered))
        place = end
    rest = _escaped(view.text[place:])
    parts.append(
        f'<span class="unread" title="not read">{rest}</span>' if view.truncated and rest.strip() else rest
    )
    return "".join(parts)


def _in_order(view: SentenceView) -> Iterator[tuple[int, tuple[int, int]]]:
    return ((i, span) for i, span in enumerate(view.spans) if span[1] > span[0])


def _word(view: SentenceView, i: int, text: str, numbered: bool) -> str:
    classes, title, number = ["w"], [], ""
    if view.weights is not None:
        weight, largest = float(view.weights[i]), float(view.weights.max())
        classes.append(f"t{round((LEVELS - 1) * max(weight, 0.0) / largest) if largest > 0 else 0}")
        title.append(f"weight {weight:.3f}")
        number = f' data-w="{100 * weight:.0f}"' if numbered else ""
    title += [f"gate {name} {gate[i]:.2f}" for name, gate in view.gates.items()]
    if view.unknown[i]:
        classes.append("unknown")
        title.append("not in the vocabulary")
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
