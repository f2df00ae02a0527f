"""Training examples that a text resembles, as lines for a terminal, as a section of a page and as one cell."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from heedful.explain.neighbors import Neighbor
from heedful.explain.page_frame import safe
from heedful.tables import page_table
from heedful.text.characters import shorten, visible

TITLE = "Because it resembles these training examples"
_NOTE = (
    "Of the training examples that this model keeps, those that are most alike to the text in what the model reads of "
    "it; 1.00 is the same. Beside each word that both have stands how much less alike they are without it."
)
_LONGEST = 300


def neighbor_lines(found: Sequence[Neighbor], width: int) -> list[str]:
    """Write neighbors for a terminal: a title, and a line or two for each.

    Args:
        found: the neighbors; at least one.
        width: columns of the terminal.

    Returns:
        The lines.
    """
    lines = [TITLE]
    for each in found:
        head = f"  {each.similarity:.2f}  {shorten(visible(each.gold_text), 30)}  row {each.row:,}"
        text = f"  {_texts(each)}" if each.texts else ""
        lines.append(shorten(head + text, width))
        if each.shared:
            lines.append(shorten(f"        both have {_shared(each)}", width))
    return lines


def neighbors_section(found: Sequence[Neighbor]) -> str:
    """Write neighbors as a section of a page; nothing where there are none.

    Args:
        found: the neighbors.

    Returns:
        HTML, all text escaped.
    """
    if not found:
        return ""
    rows = ([f"{each.similarity:.2f}", _example(each)] for each in found)
    table = page_table(("alike", "training example"), rows, ("r", ""))
    return f'<section><h2>{TITLE}</h2>{table}<p class="note">{_NOTE}</p></section>'


def _example(each: Neighbor) -> str:
    """Write a training example for a narrow screen too: its text, and below it label, row and shared words."""
    text = f"<bdi>{escape(_texts(each))}</bdi><br>" if each.texts else ""
    shared = f" · both have <bdi>{escape(_shared(each))}</bdi>" if each.shared else ""
    gold = safe(each.gold_text)
    return f'{text}<b><bdi>{gold}</bdi></b> <span class="muted">row {each.row:,}{shared}</span>'


def as_cell(found: Sequence[Neighbor]) -> str:
    """Write neighbors in one cell: their labels with how alike they are, the most alike first."""
    return "; ".join(
        f"{each.gold_text} {each.similarity:.2f} row {each.row}"
        + (f" {_texts(each)!r}" if each.texts else "")
        for each in found
    )


def _texts(each: Neighbor) -> str:
    return shorten(visible(" => ".join(each.texts)), _LONGEST)


def _shared(each: Neighbor) -> str:
    return ", ".join(f"{shorten(visible(word), 20)} {weight:.2f}" for word, weight in each.shared)
