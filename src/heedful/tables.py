"""Tables for people: Markdown for pages and cards, aligned columns for a terminal, HTML for notebooks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Collection[int] = ()
) -> list[str]:
    """Write a table in Markdown.

    Args:
        head: names of the columns.
        rows: cells of each row; a "|" within a cell is escaped.
        right: places of the columns that are set to the right, from 0.

    Returns:
        The lines.
    """
    rule = ["---:" if place in right else "---" for place in range(len(head))]
    return [_line(head), _line(rule), *map(_line, rows)]


def aligned_table(
    rows: Iterable[Sequence[str]], *, right: Collection[int] = (), gap: str = "  "
) -> list[str]:
    """Write a table in columns of characters.

    Args:
        rows: cells of each row, the head among them.
        right: places of the columns that are set to the right, from 0.
        gap: what stands between two columns.

    Returns:
        The lines, without blanks at their ends.
    """
    lines = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        gap.join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in HTML.

    Args:
        head: names of the columns.
        rows: the cells, as plain text; a cell may hold any characters, direction overrides included.

    Returns:
        A fragment of HTML.
    """
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
