"""The cells of columns beside a text: what a file or a program may hold there, as plain values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from heedful.errors import DataError, nearest

Cell = str | int | float | bool | None
"""One value of a row; None stands for a missing one."""
Cells = Mapping[str, object]
"""The values of one row, by the name of the column."""
_MISSING = frozenset({"", "na", "n/a", "nan", "none", "null", "<na>", "nat"})
_FORMS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
)
_OF_POSTS = "%a %b %d %H:%M:%S %z %Y"
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_POINT = re.compile(r"(-?\d+)\.0+")
LARGEST = 1e100
"""Greatest number of a column, without its sign: squares of greater ones have no number."""
EPOCH = datetime(1970, 1, 1)


def plain_cell(value: object, where: str) -> Cell:
    """Return a value of a row as a plain one.

    Args:
        value: a string, a number, a truth value, a date or a time, None or NaN; also those of NumPy and pandas, and
            decimal numbers.
        where: of the row and the column, for messages.

    Returns:
        The plain value; a date in the form of ISO 8601.

    Raises:
        DataError: if it is something else, such as a list.
    """
    if type(value).__name__ in ("NAType", "NaTType"):  # what pandas writes for a missing value
        return None
    if isinstance(value, datetime | date):
        return value.isoformat()
    if type(value).__name__ == "datetime64":
        return None if str(value) == "NaT" else str(value)
    if isinstance(value, Decimal):
        value = float(value)
    item = getattr(value, "item", None)  # of a number of NumPy
    value = item() if callable(item) else value
    if isinstance(value, float) and value != value:
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise DataError(f"{where}: expected a number, a text or a date, got {type(value).__name__} {value!r:.60}")


def named_cell(cells: Cells | None, name: str, where: str) -> Cell:
    """Return the value of a column in a row.

    Args:
        cells: of the row, by name; None where it has none.
        name: of the column.
        where: the row, for messages.

    Returns:
        The plain value; None if it is missing in a column that is there.

    Raises:
        DataError: if there is no such column; gives the nearest name.
    """
    if cells is None or name not in cells:
        raise DataError(f"{where}: {missing_column(name, [] if cells is None else map(str, cells))}")
    return plain_cell(cells[name], f"{where}, column {name!r}")


def missing_column(name: str, names: Iterable[str]) -> str:
    """Say that a column is not there that a model reads.

    Args:
        name: of the column.
        names: of those that are there.

    Returns:
        What to do, with the nearest name.
    """
    known = list(names)
    hint = f"; {nearest(name, known)}" if known else ""
    return (
        f"the model also reads the column {name!r}, which is not there{hint}. Give it (null where it is not known), or "
        "write --feature NAME=VALUE beside a text of heedful predict"
    )


def is_missing_cell(cell: Cell) -> bool:
    """Say whether a value of a number or a date stands for nothing."""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING)


def number_in(cell: Cell) -> float | None:
    """Return the number that a value is or writes; None if it is none, not finite, or beyond `LARGEST`."""
    found = _number(cell)
    return found if abs(found) <= LARGEST else None  # NaN is none either


def is_beyond(cell: Cell) -> bool:
    """Say whether a value writes a finite number that is greater than `LARGEST`."""
    return LARGEST < abs(_number(cell)) < math.inf


def _number(cell: Cell) -> float:
    if cell is None or (isinstance(cell, str) and "_" in cell):
        return math.nan
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return math.nan


def category_in(cell: Cell) -> str | None:
    """Return the name of a category; None for an empty one. A whole number is written without a decimal point."""
    if cell is None:
        return None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        cell = int(cell)
    name = " ".join(str(cell).split())
    whole = _POINT.fullmatch(name)
    return (whole[1] if whole else name) or None


def date_in(cell: Cell) -> datetime | None:
    """Return the date that a value writes, as its clock shows it; None if it is none.

    ISO 8601, ``2024/03/01`` and ``01.03.2024``, each also with a time, and the form of posts, ``Fri Mar 01 09:30:00
    +0000 2024``, are read. ``01/03/2024`` is none, since it may be January or March.
    """
    if not isinstance(cell, str):
        return None
    text = cell.strip()
    try:
        if _ISO.match(text):
            return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return None
    for form in (*_FORMS, _OF_POSTS) if text[:1].isdigit() or text.endswith(tuple("0123456789")) else ():
        try:
            return datetime.strptime(text, form).replace(tzinfo=None)
        except ValueError:
            continue
    return None


def days_of(moment: datetime) -> float:
    """Return the days from the first of January 1970 to a date."""
    return (moment.replace(tzinfo=UTC) - EPOCH.replace(tzinfo=UTC)).total_seconds() / 86400
