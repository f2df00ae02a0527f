"""Spreadsheets of Excel and LibreOffice, read by python-calamine as if they had been saved as CSV."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heedful.data.readers.reading import note_once
from heedful.data.readers.record_files import Record, column_names
from heedful.data.readers.spreadsheet_sizes import refuse_huge
from heedful.errors import DataError, MissingExtraError
from heedful.storage import note_read
from heedful.text.limits import UNPACKED


def spreadsheet_records(file: Path, *, header: bool = True) -> Iterator[tuple[int, Record]]:
    """Read the first sheet that has rows; empty rows are passed over.

    Args:
        file: the spreadsheet.
        header: whether the first row names the columns; without, they are called "1", "2" and so on.

    Yields:
        The row as the spreadsheet numbers it, and the fields as text, as in a CSV file.

    Raises:
        DataError: if the file cannot be read, or unpacks to more than `UNPACKED` or `BOOK` allows.
        MissingExtraError: if python-calamine is not installed.
    """
    try:
        import python_calamine
    except ImportError as error:
        raise MissingExtraError("python-calamine", "spreadsheets", "reading spreadsheets") from error
    note_read(file)
    _check_size(file)
    refuse_huge(file)
    try:
        with python_calamine.CalamineWorkbook.from_path(str(file)) as book:
            sheets = [(name, book.get_sheet_by_name(name)) for name in book.sheet_names]
            filled = [(name, sheet) for name, sheet in sheets if sheet.height]
            if not filled:
                raise DataError(f"{file}: holds no rows")
            (name, sheet), *others = filled
            if others:
                listed = ", ".join(other for other, _ in others)
                note_once(
                    f"{file}: the sheet {name!r} is read, and not: {listed}; to read another, move it to the front"
                )
            rows = sheet.to_python(skip_empty_area=False)
    except DataError:
        raise
    except BaseException as error:  # each format has an exception, and a panic of the reader is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise DataError(f"{file}: not a readable spreadsheet: {error}") from error
    yield from _records(rows, header)


def _records(rows: list[list[Any]], header: bool) -> Iterator[tuple[int, Record]]:
    names: list[str] | None = None
    for number, cells in enumerate(rows, start=1):
        written = [_text(cell) for cell in cells]
        if not any(written):
            continue
        if names is None:
            names = column_names(written) if header else [str(k) for k in range(1, len(written) + 1)]
            if header:
                continue
        yield number, dict(zip(names, written, strict=True))


def _text(cell: object) -> str:
    """Return a cell as CSV has it: whole numbers without a fraction."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)


def _check_size(file: Path) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (OSError, zipfile.BadZipFile):  # .xls is no archive; the reader says what else is wrong
        return
    if size > UNPACKED.value():
        raise UNPACKED.exceeded(str(file), "the file unpacks to more than")
