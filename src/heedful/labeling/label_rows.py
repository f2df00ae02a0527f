"""The rows of a file of labels as bytes: CSV with a header, or a JSON object a line; a row that was cut off shows."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from heedful.data.readers.quoted_rows import with_long_fields
from heedful.errors import DataError
from heedful.storage.fields import is_table, plain_json

Fields = Mapping[str, object]
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Found:
    """What a file holds.

    Attributes:
        rows: the fields of each row.
        end: the bytes up to which rows are whole; what follows was cut off while it was written.
    """

    rows: list[dict[str, object]]
    end: int


class RowForm(ABC):
    """A form of files.

    Attributes:
        columns: the names of the fields, in their order.
    """

    columns: tuple[str, ...]

    @abstractmethod
    def read(self, data: bytes) -> Found:
        """Read a file.

        Args:
            data: what it holds.

        Returns:
            Its rows.

        Raises:
            DataError: if it is no such file; says the row and what to do.
        """

    @abstractmethod
    def head(self) -> bytes:
        """Return what stands before the first row."""

    @abstractmethod
    def row(self, fields: Fields) -> bytes:
        """Return a row with its end."""


class CsvRows(RowForm):
    """CSV in UTF-8 with commas and a header, as RFC 4180 has it; a line break within quotation marks is of the text.

    Args:
        columns: those of a new file.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)

    def read(self, data: bytes) -> Found:
        """Read a file and take over its columns; see `RowForm.read`."""
        rows: list[dict[str, object]] = []
        header: tuple[str, ...] | None = None
        if b"\r" in data and b"\n" not in data:
            raise DataError("its lines end as on old Macs, with CR alone; save it with other line ends")
        for number, (start, raw) in enumerate(_records(data), 1):
            ended = raw.endswith(b"\n") and raw.count(b'"') % 2 == 0
            last = start + len(raw) == len(data) and not ended
            cells = self._cells(raw, number, last=last)
            if cells is None and header is None:  # which is written as a whole
                raise DataError(
                    "row 1: is no header in UTF-8 with commas; save it as CSV in UTF-8, or name another --output"
                )
            if cells is None or (header is not None and len(cells) < len(header) and last):
                self._refuse_open_quote(raw, number, header or ())
                return Found(rows, start)
            if header is None:
                header = tuple(cell.strip() for cell in cells)
                if len(set(header)) < len(header):
                    raise DataError(f"row 1: a column stands twice: {', '.join(header)}")
            elif len(cells) != len(header):
                if cells:
                    raise DataError(
                        f"row {number}: expected {len(header)} fields, got {len(cells)}; correct it, or name another "
                        "--output"
                    )
            else:
                rows.append(dict(zip(header, cells, strict=True)))
        if header is not None:
            self.columns = header
        return Found(rows, len(data))

    def head(self) -> bytes:
        """Return the header."""
        return _line(self.columns)

    def row(self, fields: Fields) -> bytes:
        """Return the cells of the columns; a field that is missing is empty."""
        return _line([str(fields.get(name, "")) for name in self.columns])

    def _refuse_open_quote(self, raw: bytes, number: int, header: Sequence[str]) -> None:
        """Refuse to take whole rows behind a quotation mark that is never closed for one row that was cut off."""
        for line in raw.split(b"\n")[1:]:
            with contextlib.suppress(csv.Error):
                cells = next(with_long_fields(csv.reader([line.decode("utf-8", "replace")], strict=True)), [])
                if len(header) > 1 and len(cells) == len(header):
                    raise DataError(f"row {number}: a quotation mark opens and is never closed; correct it")

    def _cells(self, raw: bytes, number: int, *, last: bool) -> list[str] | None:
        """Return the cells of a record; None for one that was cut off."""
        try:
            text = raw.removeprefix(_BOM).decode("utf-8")
        except UnicodeDecodeError as error:
            if last:
                return None
            raise DataError(f"row {number}: is no UTF-8; save the file as UTF-8") from error
        try:
            return next(with_long_fields(csv.reader(io.StringIO(text, newline=""), strict=True)), [])
        except csv.Error as error:
            if last:
                return None
            raise DataError(
                f"row {number}: is no CSV: {error}; correct it, or name another --output"
            ) from error


class JsonRows(RowForm):
    """A JSON object a line, as doccano writes it.

    Args:
        columns: the fields that every line has.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)

    def read(self, data: bytes) -> Found:
        """Read a file; see `RowForm.read`."""
        rows: list[dict[str, object]] = []
        start = 0
        for number, raw in enumerate(data.splitlines(keepends=True), 1):
            last = not raw.endswith(b"\n")
            try:
                value = plain_json(raw.removeprefix(_BOM), finite=False) if raw.strip() else None
            except ValueError as error:
                if last and _may_be_cut(raw):
                    return Found(rows, start)
                raise DataError(f"row {number}: is no JSON; correct it, or name another --output") from error
            if is_table(value):
                rows.append(dict(value))
            elif raw.strip():
                raise DataError(f"row {number}: expected a JSON object; name another --output")
            start += len(raw)
        return Found(rows, len(data))

    def head(self) -> bytes:
        """Return nothing: every row names its fields."""
        return b""

    def row(self, fields: Fields) -> bytes:
        """Return the fields, without empty ones that not every line has."""
        kept = {n: value for n, value in fields.items() if n in self.columns or value not in ("", None)}
        return json.dumps(kept, ensure_ascii=False).encode() + b"\n"


def _may_be_cut(raw: bytes) -> bool:
    """Return whether bytes may be the beginning of a JSON object in UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return decoder.decode(raw.removeprefix(_BOM)).lstrip().startswith("{")
    except UnicodeDecodeError:
        return False


def _line(cells: Sequence[str]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue().encode("utf-8")


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the bytes of each record: lines up to one after which quotation marks are even."""
    start = end = quotes = 0
    for line in data.split(b"\n"):
        end = min(len(data), end + len(line) + 1)
        quotes += line.count(b'"')
        if quotes % 2 == 0:
            if end > start:
                yield start, data[start:end]
            start, quotes = end, 0
    if end > start:
        yield start, data[start:end]
