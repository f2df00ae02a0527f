"""The rows of separated values with quoted fields, and quotation marks that would swallow rows."""

from __future__ import annotations

import csv
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

from heedful.errors import DataError
from heedful.text.limits import LINE

Row = tuple[int, list[str]]
"""The 1-based line at which a row begins, and its fields."""
_LOG = logging.getLogger(__name__)
_LIMIT = threading.RLock()
_SURE = 10
"""Rows that surely have several lines, after which one of lines that look like rows is taken for one more of them."""


def with_long_fields(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Read rows whose fields may be as long as a line may be.

    The limit of the module csv is one for the whole process, so it is changed for each row alone: readers that take
    turns, are left unfinished or work in several threads do not lower it for one another.

    Args:
        rows: a reader of the module csv.

    Yields:
        Its rows.

    Raises:
        csv.Error: see `csv.reader`.
    """
    while True:
        with _LIMIT:
            former = csv.field_size_limit(LINE.value())
            try:
                row = next(rows, None)
            finally:
                csv.field_size_limit(former)
        if row is None:
            return
        yield row


def quoted_rows(lines: Iterator[tuple[int, str]], file: Path, separator: str) -> Iterator[Row]:
    """Read rows as RFC 4180 says; a field in quotation marks may go on over several lines.

    A mark that opens in one row and closes by chance in a later one makes one row of all that is between. Where each
    line of such a row is one by itself, with as many fields as the first row has and none of them empty, it is refused,
    unless a separator is followed by a blank as in prose, or `_SURE` rows before it surely have several lines. Then,
    and in a table of one column, a warning counts such rows.

    Args:
        lines: numbered lines.
        file: for messages.
        separator: the character between the fields.

    Yields:
        The line at which a row begins, from 1, and its fields; none for an empty line.

    Raises:
        DataError: if the quotes do not close, text follows a closing one, or rows would be swallowed.
    """
    held: list[tuple[int, str]] = []
    width = doubtful = first = sure = 0
    try:
        reader = csv.reader(_fed(lines, held), delimiter=separator, strict=True)
        for cells in with_long_fields(reader):
            width = width or len(cells)
            if len(held) > 1:
                if sure < _SURE and _swallows(held, separator, width):
                    raise DataError(
                        f"{file}: row {held[0][0]}: a quotation mark opens here and closes in line {held[-1][0]}, and "
                        "each line between them is a row by itself. Close it, or read quotation marks as plain "
                        "characters with --no-quotes"
                    )
                if all(_is_row(line, separator, width) for _, line in held):
                    doubtful, first = doubtful + 1, first or held[0][0]
                else:
                    sure += 1
            yield held[0][0], cells
            held.clear()
    except csv.Error as error:
        start = held[0][0] if held else 1
        if str(error).startswith("field larger"):
            raise LINE.exceeded(f"{file}: row {start}", "a field has more than") from error
        remedy = "close the quotation marks, or read them as plain characters with --no-quotes"
        if str(error).startswith("new-line character"):
            remedy = (
                "its lines end in a carriage return alone, as on old Macs; save it with line ends of Unix"
            )
        raise DataError(f"{file}: row {start}: {error}; {remedy}") from error
    if doubtful:
        _LOG.warning(
            "%s: %d rows have several lines in quotation marks, each of which could be a row by itself (the first in "
            "line %d); if they are, pass --no-quotes",
            file,
            doubtful,
            first,
        )


def _fed(lines: Iterator[tuple[int, str]], held: list[tuple[int, str]]) -> Iterator[str]:
    """Yield lines with their ends, and hold them until the row that they belong to has been read."""
    for number, line in lines:
        held.append((number, line))
        yield f"{line}\n"


def _swallows(held: list[tuple[int, str]], separator: str, width: int) -> bool:
    """Return whether each line of a row is surely a row by itself."""
    if width < 2 or not all(_is_row(line, separator, width) for _, line in held):
        return False
    return separator == "\t" or not any(f"{separator} " in line for _, line in held)


def _is_row(line: str, separator: str, width: int) -> bool:
    fields = line.split(separator)
    return len(fields) == width and (width == 1 or all(map(str.strip, fields)))
