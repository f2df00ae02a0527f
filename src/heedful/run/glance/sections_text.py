"""What is said of a whole model as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from heedful.run.glance.sections import Report, Table, Texts, Words
from heedful.text.characters import cells, pad, shorten, visible

_ROWS, _WORDS, _NAMES, _TEXT = 5, 6, 20, 70
"""Rows of a table and of texts, words of a class, and classes that are printed; cells of a text."""


def report_lines(report: Report) -> list[str]:
    """Return the most important lines; the page has the rest.

    Args:
        report: what is said.

    Returns:
        The headline, and the beginning of every section.
    """
    lines = [f"{visible(report.headline)}, {visible(report.beside)}"]
    for section in report.sections:
        lines += ["", f"{section.title}:"]
        for block in section.blocks[:_ROWS]:
            lines += _lines(block, report)
    return lines


def _lines(block: Table | Words | Texts, report: Report) -> Iterator[str]:
    if isinstance(block, Words):
        for name, words in list(block.found.items())[:_NAMES]:
            said = ", ".join(f"{visible(word.name)} {word.signed:+.2f}" for word in words[:_WORDS])
            yield f"  {visible(name)}: {said or 'no word'}"
    elif isinstance(block, Table):
        rows = [tuple(map(visible, row)) for row in (block.header, *block.rows[:_NAMES])]
        widths = [max(cells(row[k]) for row in rows) for k in range(len(block.header))]
        for row in rows:
            yield "  " + "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
    else:
        if block.title:
            yield f"  {visible(block.title)}"
        for shown in block.shown[: 0 if block.title else _ROWS]:
            text = shorten(visible(" => ".join(report.examples[shown.place].texts)), _TEXT)
            yield f"  {visible(shown.facts)}: {text}"
