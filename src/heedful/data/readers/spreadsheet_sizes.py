"""How much memory a spreadsheet takes once it is read: rows and cells may repeat, and a few bytes stand for millions.

An .ods file says that a cell or a row stands there a million times; an .xlsx file names a far cell, up to which all
others are made, or the same long text in every cell. The reader holds all of that in memory, so it is counted first.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.parsers import expat

from heedful.errors import DataError
from heedful.text.limits import Limit
from heedful.text.text_files import DAMAGE

BOOK = Limit("HEEDFUL_MAX_SPREADSHEET", 1 << 30, "bytes")
"""What a spreadsheet may take in memory; ten million short cells."""
_CELL = 100
"""Bytes of a cell in memory beside its text."""
_PART = 1 << 16
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_SHARED = "xl/sharedStrings.xml"


def refuse_huge(file: Path) -> None:
    """Refuse a spreadsheet that would take more memory than `BOOK` allows.

    Args:
        file: the spreadsheet; one of another format than .ods and .xlsx is left to its reader.

    Raises:
        DataError: if it would, if its cells are no XML, of which the reader would not find the end, or if it declares
            entities, as only hostile files do.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if "content.xml" in names:
                _read(archive, "content.xml", _Repeated(file))
            shared = _Shared()
            if _SHARED in names:
                _read(archive, _SHARED, shared)
            for name in names:
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    sheet = _Placed(file, shared.lengths)
                    _read(archive, name, sheet)
                    sheet.finish()
    except DataError:
        raise
    except _Entity as error:
        raise DataError(f"{file}: declares XML entities, which no spreadsheet needs; save it anew") from error
    except expat.ExpatError as error:
        raise DataError(f"{file}: not a readable spreadsheet: its cells are no XML: {error}") from error
    except (*DAMAGE, ValueError):  # the reader says what is wrong
        return


class _Handler:
    """What hears of the elements of a file, by their names without prefix, and of the text in them."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Hear of the beginning of an element and of its attributes."""

    def end(self, name: str) -> None:
        """Hear of the end of an element."""

    def text(self, text: str) -> None:
        """Hear of a part of a text."""


def _read(archive: zipfile.ZipFile, name: str, handler: _Handler) -> None:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def start(element: str, attributes: dict[str, str]) -> None:
        handler.start(_bare(element), {_bare(each): value for each, value in attributes.items()})

    parser.StartElementHandler, parser.CharacterDataHandler = start, handler.text
    parser.EndElementHandler = lambda element: handler.end(_bare(element))
    parser.EntityDeclHandler = _refuse_entity
    with archive.open(name) as stream:
        for part in _parts(stream.read):
            parser.Parse(part, False)
        parser.Parse(b"", True)


def _parts(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while part := read(_PART):
        yield part


def _bare(name: str) -> str:
    return name.rpartition(" ")[2]


class _Entity(Exception):
    """An entity is declared, which may stand for any length of text."""


def _refuse_entity(*_: object) -> None:
    raise _Entity


class _Repeated(_Handler):
    """Counts what the rows and cells of an .ods file come to, those that repeat as often as they do."""

    def __init__(self, file: Path) -> None:
        self._file, self._limit = file, BOOK.value()
        self._bytes = self._empty_rows = 0
        self._row = self._cell = self._row_times = self._cell_times = self._empty = self._width = 0
        self._filled = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "table":
            self._empty_rows = 0
        elif name == "table-row":
            self._row_times, self._row, self._empty, self._width = (
                _times(attributes, "number-rows-repeated"),
                0,
                0,
                0,
            )
        elif name in ("table-cell", "covered-table-cell"):
            self._cell_times, self._cell = _times(attributes, "number-columns-repeated"), 0
            self._filled = "value-type" in attributes

    def text(self, text: str) -> None:
        self._cell += len(text)
        self._filled = self._filled or bool(text.strip())

    def end(self, name: str) -> None:
        if name in ("table-cell", "covered-table-cell"):
            if self._filled:  # empty cells count where a filled one follows
                self._row += self._empty * _CELL + self._cell_times * (_CELL + self._cell)
                self._width += self._empty + self._cell_times
                self._empty, self._filled = 0, False
            else:
                self._empty += self._cell_times
        elif name == "table-row" and self._row:
            self._bytes += self._row_times * self._row + self._empty_rows * self._width * _CELL
            self._empty_rows = 0
            if self._bytes > self._limit:
                raise BOOK.exceeded(
                    str(self._file), "the rows and cells take, each as often as it repeats, more than"
                )
        elif name == "table-row":
            self._empty_rows += self._row_times


def _times(given: dict[str, str], name: str) -> int:
    times = given.get(name, "1")
    return int(times) if times.isascii() and times.isdigit() and len(times) < 12 else 1


class _Shared(_Handler):
    """The lengths of the texts that the cells of an .xlsx file share."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "si":
            self.lengths.append(0)

    def text(self, text: str) -> None:
        if self.lengths:
            self.lengths[-1] += len(text)


class _Placed(_Handler):
    """Counts what the cells of a sheet of an .xlsx file come to: all of the rectangle in which they stand."""

    def __init__(self, file: Path, lengths: list[int]) -> None:
        self._file, self._limit, self._lengths = file, BOOK.value(), lengths
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._bytes, self._shared, self._value = 0, False, ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self._shared, self._value = attributes.get("t") == "s", ""
            if place := _REFERENCE.fullmatch(attributes.get("r", "")):
                column = 0
                for letter in place[1]:
                    column = 26 * column + ord(letter) - 64
                self._rows = _span(self._rows, int(place[2]))
                self._columns = _span(self._columns, column)

    def text(self, text: str) -> None:
        self._value = (self._value + text)[:20] if self._shared else ""
        self._bytes += 0 if self._shared else len(text)

    def end(self, name: str) -> None:
        if name != "c":
            return
        number = self._value.strip()
        if self._shared and number.isascii() and number.isdigit() and int(number) < len(self._lengths):
            self._bytes += self._lengths[int(number)]
        self._check()

    def finish(self) -> None:
        """Hear that the sheet has ended."""
        self._check()

    def _check(self) -> None:
        spans = [span[1] - span[0] + 1 if span else 0 for span in (self._rows, self._columns)]
        if self._bytes + spans[0] * spans[1] * _CELL > self._limit:
            raise BOOK.exceeded(str(self._file), "the cells and their texts take more than")


def _span(span: list[int], place: int) -> list[int]:
    return [min(span[0], place), max(span[1], place)] if span else [place, place]
