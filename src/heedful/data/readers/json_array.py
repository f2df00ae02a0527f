"""A JSON array of objects, read one object at a time: the file may be larger than memory."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path

from heedful.data.readers.text_lines import DAMAGE, check_encoding, damaged, open_bytes
from heedful.errors import DataError
from heedful.text.opening import LINE

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
