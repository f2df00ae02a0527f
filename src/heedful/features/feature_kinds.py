"""Which kind a column beside the text is: number, category or date, as its values or the user say; and what is odd."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from heedful.errors import UsageError
from heedful.features.cells import Cell, category_in, date_in, is_missing_cell, number_in

Kind = Literal["number", "category", "date"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LEADING_ZERO = re.compile(r"-?0\d+")


@dataclass(frozen=True)
class Wanted:
    """A column that a model is to read beside the text.

    Attributes:
        name: of the column.
        kind: what it is; None where its values decide.
    """

    name: str
    kind: Kind | None = None

    def __str__(self) -> str:
        return self.name if self.kind is None else f"{self.name}:{self.kind}"


def wanted_columns(written: Sequence[str]) -> tuple[Wanted, ...]:
    """Read the names of columns, each with its kind behind a colon where the user says it, as in ``zip:category``.

    Args:
        written: the names.

    Returns:
        The columns.

    Raises:
        UsageError: if a name is empty or is there twice.
    """
    found: list[Wanted] = []
    for each in written:
        name, colon, kind = each.rpartition(":")
        known = bool(colon) and kind in KINDS
        wanted = Wanted(name, cast(Kind, kind)) if known else Wanted(each)
        if not wanted.name.strip():
            raise UsageError(f"--feature {each!r}: name a column, as in price or zip:category")
        if any(wanted.name == other.name for other in found):
            raise UsageError(f"--feature names the column {wanted.name!r} twice; name it once")
        found.append(wanted)
    return tuple(found)


def refuse_roles(names: Sequence[str], roles: Mapping[str, str]) -> None:
    """Refuse a column beside the text that is the text or the gold itself.

    Args:
        names: of the columns beside the text.
        roles: a role, such as "label", to the name of its column.

    Raises:
        UsageError: if a column is both.
    """
    for role, written in roles.items():
        for name in names:
            if name == written or name in [part.strip() for part in written.split(",")]:
                raise UsageError(
                    f"--feature {name}: is the column of the {role}, which a feature cannot be; leave it out"
                )


def kind_of_cells(cells: Sequence[Cell]) -> Kind:
    """Return what the values of a column are.

    Args:
        cells: of the training rows.

    Returns:
        "number" if all of them are numbers and none begins with a 0 as a postal code may; "date" if all of them are
        dates; else "category", also where nothing is there. Missing values say nothing.
    """
    there = [cell for cell in cells if not is_missing_cell(cell)]
    if not there or any(isinstance(cell, bool) for cell in there):
        return "category"
    codes = any(isinstance(cell, str) and _LEADING_ZERO.fullmatch(cell.strip()) for cell in there)
    if not codes and all(number_in(cell) is not None for cell in there):
        return "number"
    return "date" if all(date_in(cell) is not None for cell in there) else "category"


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
