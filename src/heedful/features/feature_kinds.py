"""Which kind a column beside the text is: a number, a category or a date, as its values say or as the user says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from heedful.errors import UsageError
from heedful.features.cells import Cell, date_in, is_missing_cell, number_in

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
