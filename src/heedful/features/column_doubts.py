"""What a column was perhaps meant to be: numbers and dates in a form that is not read, and columns of one value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from heedful.features.cells import Cell, category_in, date_in, is_missing_cell, number_in

_NUMBER = re.compile(r"[-+(]?\s*\d[\d.,'\u2019\s]*\)?")
_DATE = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}(?:[T\s].*)?")
_UNITS = re.compile(r"^\s*[^\w\s.,+(-]{1,3}\s*|\s*(?:[^\w\s.,)]{1,3}|[A-Za-z]{1,3})\s*$")
"""A sign of currency before a number, or one of percent, of currency or of a unit behind it."""
_MOST = 0.5
"""Share of the values from which on a column is taken for what they look like."""


def doubt_about(name: str, cells: Sequence[Cell]) -> str:
    """Say what a column of categories was perhaps meant to be, and what a column without two values is worth.

    Args:
        name: of the column, whose kind the values decided.
        cells: of the training rows.

    Returns:
        A sentence; empty where nothing stands out.
    """
    there = [cell for cell in cells if not is_missing_cell(cell)]
    if len({category_in(cell) for cell in there}) < 2:
        what = "is empty" if not there else f"is {str(there[0])!r:.60}"
        return (
            f"the column “{name}” {what} in every training row, of which nothing can be learned; leave it out"
        )
    if any(isinstance(cell, bool) for cell in there):
        return ""
    for kind, reads, written in (
        ("number", number_in, _looks_like_number),
        ("date", date_in, _looks_like_date),
    ):
        others = [cell for cell in there if reads(cell) is None]
        if others and len(others) < len(there) * (1 - _MOST):
            return (
                f"the column “{name}” is read as categories because of {str(others[0])!r:.60}; "
                f"{len(there) - len(others):,} of its {len(there):,} values are {kind}s: leave such cells empty, or "
                f"write {name}:category if that is meant"
            )
        alike = [cell for cell in there if isinstance(cell, str) and reads(cell) is None and written(cell)]
        if len(alike) >= len(there) * _MOST:
            good = "12.5" if kind == "number" else "2024-03-01"
            return (
                f"the column “{name}” is read as categories, because {alike[0]!r:.60} is no {kind} as it is written; "
                f"write {kind}s as {good}, or {name}:category if that is meant"
            )
    return ""


def _looks_like_number(cell: str) -> bool:
    return _NUMBER.fullmatch(_UNITS.sub("", cell).strip()) is not None and not _looks_like_date(cell)


def _looks_like_date(cell: str) -> bool:
    return _DATE.fullmatch(cell.strip()) is not None
