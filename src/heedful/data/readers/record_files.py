"""Files whose rows have named fields: JSON, separated values, Parquet. Each gives (row, fields).

A JSON array is read one object at a time, because the file may be larger than memory.
"""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from heedful.data.readers.text_lines import DAMAGE, check_encoding, damaged, numbered_lines, open_bytes
from heedful.errors import DataError, MissingExtraError
from heedful.storage import note_read
from heedful.text.opening import LINE, UNPACKED

_BLOCK = _PEEK = 1 << 16
_SPACE = " \t\r\n"
_LONGEST_WORD = 12  # "-Infinity", or an escape such as \ud83d\ude00


def holds_array(file: Path) -> bool:
    """Tell whether the first character of a file, white space and a UTF-8 mark aside, opens an array."""
    with open_bytes(file) as stream:
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
        self._decoder = json.JSONDecoder()
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
                reason = (
                    error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too long a number"
                )
                raise DataError(f"{place}: not JSON ({reason}); expected an array of objects") from error

    def _is_cut(self, error: Exception) -> bool:
        """Tell whether an object may be whole once more is read: the mistake is where the text ends."""
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
        decode = codecs.getincrementaldecoder(self._encoding)().decode
        read = 0
        with open_bytes(self._file) as stream:
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
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # ValueError: also a number of too many digits
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too long a number"
            refuse(row, DataError(f"{file}: row {row}: not JSON ({reason}); expected one object a line"))
            continue
        if not isinstance(record, dict):
            kind = type(record).__name__
            refuse(row, DataError(f"{file}: row {row}: expected one JSON object a line, got a {kind}"))
            continue
        yield row, record


def split_records(
    file: Path, encoding: str = "utf-8", separator: str = "\t", refuse: Refuse = stop
) -> Iterator[tuple[int, Record]]:
    """Read lines of fields without quoting, the first one naming the columns; blank lines are passed over.

    Yields the 1-based row (the header is row 1) and the fields by name. Raises DataError if a line has another number
    of fields than the header.
    """
    lines = ((row, line.split(separator) if line else []) for row, line in numbered_lines(file, encoding))
    yield from _with_header(lines, file, refuse)


def csv_records(
    file: Path, encoding: str = "utf-8", separator: str = ",", refuse: Refuse = stop
) -> Iterator[tuple[int, Record]]:
    """Read separated values with RFC 4180 quoting, the first row naming the columns.

    A line end within quotes is read as one line feed, however it is written.

    Yields the 1-based row at which the record starts and the fields by name. Raises DataError if the quotes do not
    close, or a row has another number of fields than the header.
    """
    yield from _with_header(_csv_rows(file, encoding, separator), file, refuse)


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
            _refuse_repeated(table.schema_arrow.names, f"{file}: the schema")
            for batch in table.iter_batches(_BATCH):
                left -= batch.nbytes
                if left < 0:
                    raise UNPACKED.exceeded(str(file), "the file unpacks to more than")
                for record in batch.to_pylist():
                    row += 1
                    yield row, record
    except DataError:
        raise
    except (
        pyarrow.ArrowException,
        OSError,
        ValueError,
        OverflowError,
    ) as error:  # text that is no UTF-8, far dates
        raise DataError(f"{file}: row {row + 1}: not a readable Parquet file: {error}") from error


def _csv_rows(file: Path, encoding: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    lines = (f"{line}\n" for _, line in numbered_lines(file, encoding))
    old_limit = csv.field_size_limit(LINE.value())
    start = 1
    try:
        reader = csv.reader(lines, delimiter=separator, strict=True)
        for cells in reader:
            yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        if str(error).startswith("field larger"):
            raise LINE.exceeded(f"{file}: row {start}", "a field has more than") from error
        remedy = "close the quotation marks, or read them as plain characters with --no-quotes"
        if str(error).startswith("new-line character"):
            remedy = (
                "its lines end in a carriage return alone, as on old Macs; save it with line ends of Unix"
            )
        raise DataError(f"{file}: row {start}: {error}; {remedy}") from error
    finally:
        csv.field_size_limit(old_limit)


def _with_header(
    rows: Iterator[tuple[int, list[str]]], file: Path, refuse: Refuse
) -> Iterator[tuple[int, Record]]:
    header: list[str] | None = None
    for row, cells in rows:
        if header is None:
            header = [name.strip() for name in cells]
            _refuse_repeated(header, f"{file}: row {row}: the header")
            continue
        if not cells and len(header) == 1:
            cells = [""]
        if not cells:
            continue
        if len(cells) != len(header):
            said = f"{file}: row {row}: expected {len(header)} fields as in the header, got {len(cells)}; "
            remedy = "quote fields that contain the separator, or name another one with --separator"
            refuse(row, DataError(said + remedy))
            continue
        yield row, dict(zip(header, cells, strict=True))


def _refuse_repeated(names: list[str], place: str) -> None:
    if len(set(names)) < len(names):
        raise DataError(f"{place} names a column twice: {', '.join(names)}")
