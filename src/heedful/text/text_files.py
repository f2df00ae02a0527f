"""Open text files, plain or compressed, so that every problem names the file.

`heedful.text.limits` bounds how much may be unpacked and how long one line may be.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import IO, BinaryIO, cast

from heedful.errors import DataError
from heedful.storage import note_read
from heedful.storage.checked_paths import checked_path
from heedful.text.frames import open_frames
from heedful.text.limits import LINE, UNPACKED
from heedful.text.pipes import is_pipe, spooled

COMPRESSED = (".xz", ".gz", ".bz2", ".zip", ".zst")
DAMAGE = (
    EOFError,
    OSError,
    lzma.LZMAError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
)
"""What reading a damaged archive raises; the last two by one that is encrypted or packed in an unknown way."""
_BUFFER = 1 << 16


def find_file(path: str | Path) -> Path:
    """Return the file itself or, where only a compressed one is there, that one.

    Args:
        path: the file, with or without ``.xz``, ``.gz``, ``.bz2``, ``.zip`` or ``.zst``; or a pipe, which is
            read to its end (`heedful.text.pipes`).

    Returns:
        A file that exists.

    Raises:
        DataError: if there is none, or the path is a folder.
    """
    path = checked_path(path, "the file")
    if is_pipe(path):
        return spooled(path)
    packed = (path.with_name(path.name + suffix) for suffix in COMPRESSED) if path.name else ()
    for candidate in (path, *packed):
        if os.path.isfile(candidate):
            return candidate
    if os.path.isdir(path):
        raise DataError(f"{path}: is a folder, a file was expected")
    if not os.path.isdir(path.parent):
        raise DataError(f"{path}: no such file, and no such folder {path.parent}")
    if not os.access(path.parent, os.R_OK | os.X_OK):
        raise DataError(f"{path}: cannot be read: no permission in {path.parent}")
    other = _nearest_beside(path) or f" (nor one with {', '.join(COMPRESSED)} added)"
    raise DataError(f"{path}: no such file{other}")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading bytes; compression goes by the suffix.

    Args:
        path: a file that exists; a zip archive must hold one file.

    Returns:
        A stream of the decompressed bytes. Reading more of a compressed file than `UNPACKED` allows raises a
        `DataError`, whatever the file claims its size to be.

    Raises:
        DataError: if it cannot be opened.
        MissingExtraError: for ``.zst`` without zstandard, before Python 3.14.
    """
    note_read(path)
    try:
        if path.suffix.lower() not in COMPRESSED:
            return path.open("rb")
        most = UNPACKED.value()
        return cast(BinaryIO, io.BufferedReader(_Unpacked(_decompressed(path), path, most), _BUFFER))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    except DAMAGE as error:
        raise damaged(str(path), error) from error


class Recoded(io.RawIOBase):
    """The text of a stream in another encoding, as bytes of UTF-8.

    Args:
        inner: the stream.
        encoding: its encoding.
        place: the file, for messages.
    """

    def __init__(self, inner: BinaryIO, encoding: str, place: str) -> None:
        self._inner, self._ready, self._place, self._encoding = inner, memoryview(b""), place, encoding
        self._decoder, self._ended = codecs.getincrementaldecoder(encoding)(), False
        self._read = 0

    def readable(self) -> bool:
        """See `io.RawIOBase.readable`."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """See `io.RawIOBase.readinto`; raises a DataError where the bytes are not of the encoding."""
        while not self._ready and not self._ended:
            piece = self._inner.read(_BUFFER)
            self._ended = not piece
            self._read += len(piece)
            try:
                text = self._decoder.decode(piece, final=self._ended)
            except UnicodeError as error:
                raise DataError(f"{self._place}: {self._trouble(error)}") from error
            self._ready = memoryview(text.encode("utf-8", "surrogatepass"))
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _trouble(self, error: UnicodeError) -> str:
        """Say where the bytes are of another encoding, or that they end too early."""
        name = self._encoding.upper()
        if not isinstance(error, UnicodeDecodeError):  # one of no file that is read by its mark
            return f"has no mark of {name} at its beginning; pass --encoding {self._encoding}-le or -be"
        if self._ended and error.end == len(error.object):
            return f"is {name} and ends within a character: it was cut short; get the file again"
        place = self._read - len(error.object) + error.start + 1
        return f"byte {place:,} begins no character of {name}, in which the file begins; save it as UTF-8"

    def close(self) -> None:
        """Close both streams."""
        self._inner.close()
        super().close()


_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""The first bytes of a file to its encoding; those of UTF-32 begin with those of UTF-16."""


def recoded(stream: BinaryIO, place: str, encoding: str = "utf-8") -> BinaryIO:
    """Return a stream of UTF-8 for one of UTF-16 or UTF-32, any other as it is.

    Args:
        stream: not yet read.
        place: the file, for messages.
        encoding: what it was said to be; a mark at its beginning says more.

    Returns:
        The stream, at its beginning.
    """
    if isinstance(getattr(stream, "raw", None), Recoded):
        return stream
    peek = getattr(stream, "peek", None)
    try:
        head = peek(4)[:4] if peek is not None else b""
    except DAMAGE:  # reported when it is read
        return stream
    found = next((name for mark, name in _MARKS.items() if head.startswith(mark)), "")
    if not found and codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
        found = encoding
    return cast(BinaryIO, io.BufferedReader(Recoded(stream, found, place), _BUFFER)) if found else stream


def damaged(place: str, error: BaseException) -> DataError:
    """Return the refusal of a compressed file that cannot be unpacked.

    Args:
        place: the file, with the row where it is known.
        error: one of `DAMAGE`.

    Returns:
        The error to raise.
    """
    return DataError(f"{place}: the compressed file is cut short or damaged ({error}); get it again")


def raw_lines(stream: BinaryIO, place: str) -> Iterator[bytes]:
    """Yield the lines of a stream with their ends.

    Args:
        stream: a stream of bytes.
        place: the name of the file, for messages.

    Yields:
        The lines.

    Raises:
        DataError: naming the row of a line longer than `LINE`.
    """
    longest = LINE.value()
    row = 0
    while raw := stream.readline(longest + 1):
        row += 1
        if len(raw) > longest:
            raise LINE.exceeded(f"{place}: row {row}", "a line has more than")
        yield raw


def numbered_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their 1-based numbers, as bytes without the white space at their end.

    Args:
        file: see `open_bytes`.

    Yields:
        Number and line.

    Raises:
        DataError: naming the line, if the file cannot be opened, its archive is damaged or cut short, or a limit of
            `heedful.text.text_files` is exceeded.
    """
    number = 0
    with recoded(open_bytes(file), str(file)) as stream:
        try:
            for number, raw in enumerate(raw_lines(stream, str(file)), start=1):
                line = raw.rstrip(b" \t\r\n")
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line:
                    yield number, line
        except DAMAGE as error:
            place = f"{file}: line {number + 1}"
            if file.suffix.lower() in COMPRESSED:
                raise damaged(place, error) from error
            raise DataError(f"{place}: cannot be read ({error})") from error


class _Unpacked(io.RawIOBase):
    """The bytes of a decompressor, counted: however little a file is, what it unpacks to may have no end."""

    def __init__(self, inner: IO[bytes], path: Path, most: int) -> None:
        self._inner, self._path, self._left = inner, path, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._inner.read(len(buffer))
        self._left -= len(block)
        if self._left < 0:
            raise UNPACKED.exceeded(str(self._path), "the file unpacks to more than")
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._inner.close()
        super().close()


def _decompressed(path: Path) -> IO[bytes]:
    match path.suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.open(path, "rb"))
        case ".zip":
            return _open_only_member(path)
        case _:
            return open_frames(path)


def _nearest_beside(path: Path) -> str:
    """Name the file of the folder whose name is closest, if one is close; a folder may hold thousands."""
    beside = [entry.name for entry in path.parent.iterdir() if entry.is_file()]
    close = get_close_matches(path.name, sorted(beside), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _open_only_member(file: Path) -> IO[bytes]:
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.infolist() if not member.is_dir()]
        if len(members) != 1:
            raise DataError(
                f"{file}: expected a zip archive with one file, got {len(members)}. Unpack it first."
            )
        return archive.open(members[0])
