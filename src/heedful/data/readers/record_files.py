"""Files whose rows have named fields: JSON, separated values, Parquet. Each gives (row, fields).

A JSON array is read one object at a time, because the file may be larger than memory.
"""

from __future__ import annotations

import codecs
import contextlib
import datetime
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from heedful.data.readers.quoted_rows import Row, quoted_rows
from heedful.data.readers.text_lines import (
    DAMAGE,
    check_encoding,
    damaged,
    encoding_of,
    numbered_lines,
    open_text,
)
from heedful.errors import DataError, MissingExtraError
from heedful.storage import note_read
from heedful.storage.fields import RepeatedName, one_value_each
from heedful.text.limits import LINE, UNPACKED

_BLOCK = 1 << 16
_PEEK = 1 << 12
_SPACE = " \t\r\n"
_LONGEST_WORD = 12  # "-Infinity", or an escape such as \ud83d\ude00


def _reason(error: Exception) -> str:
    """Return why a text is no JSON."""
    if isinstance(error, RepeatedName):
        return str(error)
    return error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too long a number"


def holds_array(file: Path) -> bool:
    """Return whether the first character of a file, white space and a mark of UTF aside, opens an array."""
    with open_text(file) as stream:
        try:
            start = stream.read(_PEEK)
        except DAMAGE as error:
            raise damaged(str(file), error) from error
    return start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")


def array_records(file: Path, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, object]]]:
    """Read the objects of an array.

    Args:
        file: the file, plain or compressed.
        encoding: its encoding.

    Yields:
        The 1-based place in the array and the object.

    Raises:
        DataError: naming the place, if the file is no array of objects, something follows the array, the file is
            damaged or in another encoding, or an object is longer than `LINE`.
    """
    text = _Text(file, encoding)
    text.skip("[")
    row = 0
    if text.next() == "]":
        text.skip("]")
    else:
        while True:
            row += 1
            yield row, text.record(row)
            mark = text.next()
            if mark not in (",", "]"):
                raise DataError(
                    f"{file}: row {row}: expected , or ] after the object, got {mark or 'the end'!r}"
                )
            text.skip(mark)
            if mark == "]":
                break
    if text.next():
        raise DataError(f"{file}: row {row + 1}: text after the closing bracket of the array")


class _Text:
    """The characters of a file, of which only those of one object are held."""

    def __init__(self, file: Path, encoding: str) -> None:
        check_encoding(encoding)
        self._file, self._encoding = file, encoding
        self._decoder = json.JSONDecoder(object_pairs_hook=one_value_each)
        self._pieces = self._read()
        self._held, self._at = "", 0

    def next(self) -> str:
        """Pass over white space and return the next character without taking it; empty at the end."""
        while True:
            while self._at < len(self._held) and self._held[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._more(1):
                return ""

    def skip(self, mark: str) -> None:
        """Take the next character, which is ``mark``."""
        assert self.next() == mark, mark
        self._at += 1

    def record(self, row: int) -> dict[str, object]:
        """Take the next object; the characters that are held double until it is whole."""
        place = f"{self._file}: row {row}"
        if (mark := self.next()) != "{":
            raise DataError(f"{place}: expected a JSON object in the array, got {mark or 'the end'!r}")
        longest = LINE.value()
        while True:
            try:
                record, end = self._decoder.raw_decode(self._held, self._at)
                if end - self._at > longest:
                    raise LINE.exceeded(place, "an object has more than")
                self._at = end
                return record
            except DataError:
                raise
            except (ValueError, RecursionError) as error:
                held = len(self._held) - self._at
                if held > longest:
                    raise LINE.exceeded(place, "an object has more than") from error
                if self._is_cut(error) and self._more(held):
                    continue
                raise DataError(
                    f"{place}: not JSON ({_reason(error)}); expected an array of objects"
                ) from error

    def _is_cut(self, error: Exception) -> bool:
        """Return whether an object may be whole once more is read: the mistake is where the text ends."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated") or error.pos >= len(self._held) - _LONGEST_WORD

    def _more(self, least: int) -> bool:
        """Drop what was taken and hold at least so many characters more; tell whether there were any."""
        self._held, self._at = self._held[self._at :], 0
        pieces, size = [self._held], 0
        while size < least and (piece := next(self._pieces, "")):
            pieces.append(piece)
            size += len(piece)
        self._held = "".join(pieces)
        return size > 0

    def _read(self) -> Iterator[str]:
        read = 0
        with open_text(self._file, self._encoding) as stream:
            decode = codecs.getincrementaldecoder(encoding_of(stream, self._encoding))().decode
            try:
                block = stream.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8) or stream.read(_BLOCK)
                while block:
                    read += len(block)
                    if text := decode(block):
                        yield text
                    block = stream.read(_BLOCK)
                if text := decode(b"", final=True):
                    yield text
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{self._file}: byte 0x{error.object[error.start]:02x} near byte {read:,} is not {self._encoding}; "
                    "save the file as UTF-8, or name its encoding, for example --encoding cp1252"
                ) from error
            except DAMAGE as error:
                raise damaged(str(self._file), error) from error


Record = Mapping[str, Any]
Refuse = Callable[[int, DataError], None]
"""Hears of a row that cannot be read, by its number; if it returns, the row is passed over."""
_BATCH = 1_024
_DECODER = json.JSONDecoder(object_pairs_hook=one_value_each)


def stop(_row: int, error: DataError) -> None:
    """Refuse the whole file for one row: the `Refuse` of every reader unless it is given another."""
    raise error


def json_records(file: Path, encoding: str = "utf-8", refuse: Refuse = stop) -> Iterator[tuple[int, Record]]:
    """Read one JSON object a line, blank lines being passed over, or an array of objects.

    Yields the 1-based row and the object; in an array the row is the object's place in it. Raises DataError if a line
    is not a JSON object.
    """
    if holds_array(file):
        yield from array_records(file, encoding)
        return
    for row, line in numbered_lines(file, encoding):
        if not line.strip():
            continue
        try:
            record = _DECODER.decode(line)
        except (ValueError, RecursionError) as error:  # ValueError: also a number of too many digits
            said = f"{file}: row {row}: not JSON ({_reason(error)}); expected one object a line, or an array of objects"
            refuse(row, DataError(said))
            continue
        if not isinstance(record, dict):
            kind = type(record).__name__
            refuse(row, DataError(f"{file}: row {row}: expected one JSON object a line, got a {kind}"))
            continue
        yield row, record


@dataclass(frozen=True)
class FieldForm:
    """How the fields of separated values are written.

    Attributes:
        separator: the character between the fields.
        quotes: whether fields may be quoted, as RFC 4180 says; without, a quotation mark is a character.
        header: whether the first row names the columns; without, they are called "1", "2" and so on.
        skip: lines before the first row, such as the line ``sep=;`` of Excel.
    """

    separator: str = ","
    quotes: bool = True
    header: bool = True
    skip: int = 0


def separated_records(
    file: Path, encoding: str = "utf-8", form: FieldForm | None = None, refuse: Refuse = stop
) -> Iterator[tuple[int, Record]]:
    """Read separated values, whose quoted fields may go on over several lines; empty rows are passed over.

    A line end within quotes is read as one line feed, however it is written. A column without a name is called
    "column 3", after its place; columns of one name are called "name (column 3)".

    Args:
        file: the file, plain or compressed.
        encoding: its encoding.
        form: how fields are written.
        refuse: hears of a row with another number of fields than the header, or than the first row.

    Yields:
        The 1-based row, which a spreadsheet shows too: a header is row 1. And the fields by name.

    Raises:
        DataError: if the quotes do not close, or those of one row close in a later one.
    """
    form = form or FieldForm()
    with contextlib.closing(numbered_lines(file, encoding)) as lines:  # also where a row is refused
        yield from _named(file, itertools.islice(lines, form.skip, None), form, refuse)


def _named(
    file: Path, lines: Iterator[tuple[int, str]], form: FieldForm, refuse: Refuse
) -> Iterator[tuple[int, Record]]:
    """Read the fields of lines by name; see `separated_records`."""
    rows: Iterator[Row]
    if form.quotes:
        rows = quoted_rows(lines, file, form.separator)
    else:
        rows = ((row, line.split(form.separator) if line else []) for row, line in lines)
    names: list[str] | None = None
    for row, (line, cells) in enumerate(rows, start=form.skip + 1):
        if names is None and not any(cells):  # blank lines before the first row
            continue
        if names is None:
            names = column_names(cells) if form.header else [str(k) for k in range(1, len(cells) + 1)]
            if form.header:
                continue
        if not cells and len(names) == 1:
            cells = [""]
        if not cells:
            continue
        if len(cells) != len(names):
            first = "the header" if form.header else "the first row"
            at = "" if line == row else f" (line {line})"
            said = f"{file}: row {row}{at}: expected {len(names)} fields as in {first}, got {len(cells)}; "
            remedy = "quote fields that contain the separator, or name another one with --separator"
            refuse(row, DataError(said + remedy))
            continue
        yield row, dict(zip(names, cells, strict=True))


def split_records(
    file: Path, encoding: str = "utf-8", separator: str = "\t", refuse: Refuse = stop
) -> Iterator[tuple[int, Record]]:
    """Read lines of fields without quoting, the first one naming the columns; see `separated_records`.

    Yields the 1-based row (the header is row 1) and the fields by name.
    """
    yield from separated_records(file, encoding, FieldForm(separator, quotes=False), refuse)


def column_names(header: Sequence[object]) -> list[str]:
    """Return a name for each column, each once: one that has none, or shares it, is called after its place, from 1."""
    given = [str(name).strip() for name in header]
    counts = Counter(given)
    names: list[str] = []
    for place, name in enumerate(given, start=1):
        own = f"column {place}" if not name else name if counts[name] == 1 else f"{name} (column {place})"
        while own in names or (own != name and own in counts):
            own += "'"
        names.append(own)
    return names


def plain_cell(value: object) -> object:
    """Return a value of a typed column as JSON has it: decimal numbers as numbers, times and identifiers as text."""
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal | datetime.timedelta | UUID) else value


def parquet_records(file: Path) -> Iterator[tuple[int, Record]]:
    """Read a Parquet file.

    Yields the 1-based row and the fields by name. Raises MissingExtraError if pyarrow is not installed. Raises
    DataError if it is no Parquet file.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet", "reading Parquet") from error
    row, left = 0, UNPACKED.value()
    try:
        note_read(file)
        with pyarrow.parquet.ParquetFile(file) as table:
            groups = (table.metadata.row_group(k) for k in range(table.metadata.num_row_groups))
            if sum(group.total_byte_size for group in groups) > left:
                raise UNPACKED.exceeded(str(file), "the file unpacks to more than")
            names = column_names(table.schema_arrow.names)
            for batch in table.iter_batches(_BATCH):
                left -= batch.nbytes
                if left < 0:
                    raise UNPACKED.exceeded(str(file), "the file unpacks to more than")
                for record in batch.rename_columns(names).to_pylist():
                    row += 1
                    yield row, {name: plain_cell(value) for name, value in record.items()}
    except DataError:
        raise
    except (
        pyarrow.ArrowException,
        OSError,
        ValueError,
        OverflowError,
    ) as error:  # text that is no UTF-8, far dates
        raise DataError(f"{file}: row {row + 1}: not a readable Parquet file: {error}") from error
