"""Tables for people: Markdown for pages and cards, aligned columns for a terminal, HTML for notebooks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape
from itertools import chain, repeat
from typing import TypeVar

T = TypeVar("T")
_SMALL, _LARGE = 5e-5, 1e6


def figure(value: float) -> str:
    """Write a figure with four decimals.

    With three digits where four decimals would leave none, as of 1e-7; from a million on without decimals, and from
    a million millions on with six digits, as a mean square of prices.
    """
    size = abs(value)
    if 0 < size < _SMALL:
        return f"{value:.3g}"
    if size >= _LARGE:
        return f"{value:.0f}" if size < _LARGE**2 else f"{value:.6g}"
    return f"{value:.4f}"


def in_one_line(name: str) -> str:
    """Write a name of the user's, such as a class, in one line of a table: line ends and tabs become blanks."""
    return name if name.isprintable() else " ".join(name.split())


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
    """Write a table of plain text in HTML; a cell may hold any characters, direction overrides included."""
    return page_table(map(escape, head), ([f"<bdi>{escape(cell)}</bdi>" for cell in row] for row in rows))


def page_table(
    head: Iterable[str],
    rows: Iterable[Sequence[str]],
    kinds: Sequence[str] = (),
    *,
    marks: Sequence[str] = (),
    name: str = "",
) -> str:
    """Write a table of cells that are HTML, with classes of the style sheet of a page.

    Args:
        head: names of the columns, as HTML; none for a table without a head.
        rows: cells of each row, as HTML; the last cell of a shorter row takes the columns that are left.
        kinds: the class of each column, empty for none: "r" sets it to the right.
        marks: the class of each row, empty for none.
        name: the class of the table.

    Returns:
        A fragment of HTML.
    """
    names = "".join(_element("th", cell, "r" if kind == "r" else "") for cell, kind in _paired(head, kinds))
    body = "".join(_element("tr", _cells(row, kinds), mark) for row, mark in _paired(rows, marks))
    return _element("table", f"<thead><tr>{names}</tr></thead><tbody>{body}</tbody>" if names else body, name)


def percent(share: float) -> str:
    """Write a probability so that nothing short of certain reads as certain.

    >>> percent(0.997), percent(0.99999), percent(1.0), percent(0.0)
    ('99.7 %', '> 99.9 %', '> 99.9 %', '< 0.1 %')
    """
    if share > 0.9995:
        return "> 99.9 %"
    return "< 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"


def counted(share: float) -> str:
    """Write a share that was counted, which may be all or none.

    >>> counted(1.0), counted(0.9999), counted(0.25), counted(0.0)
    ('100.0 %', '> 99.9 %', '25.0 %', '0.0 %')
    """
    return f"{100 * share:.1f} %" if share in (0, 1) else percent(share)


def _cells(row: Sequence[str], kinds: Sequence[str]) -> str:
    span = f' colspan="{len(kinds) - len(row) + 1}"' if len(kinds) > len(row) else ""
    first = (_element("td", cell, kind) for cell, kind in _paired(row[:-1], kinds[: len(row) - 1]))
    return "".join(first) + _element("td", row[-1], kinds[-1] if kinds else "", span)


def _paired(items: Iterable[T], kinds: Sequence[str]) -> Iterator[tuple[T, str]]:
    return zip(items, chain(kinds, repeat("")), strict=False)


def _element(tag: str, content: str, kind: str, further: str = "") -> str:
    kind = f' class="{kind}"' if kind else ""
    return f"<{tag}{kind}{further}>{content}</{tag}>"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
