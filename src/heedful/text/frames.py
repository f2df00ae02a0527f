"""Compressed files of one frame or several: xz, bzip2 and Zstandard (RFC 8878).

Python's own readers of xz and bzip2 take what follows the first frame for rubbish when it cannot be read, and the
package zstandard takes a file that is cut short for a whole one: a damaged file would lose rows in silence. Here every
byte belongs to a whole frame, or reading fails.
"""

from __future__ import annotations

import bz2
import importlib
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, cast

from heedful.errors import MissingExtraError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PIECE = 1 << 10
"""Bytes unpacked at a time: 4 bytes of Zstandard may stand for 128 KiB, so this many for 32 MiB at most."""
_DICTIONARY = 1 << 28
"""Memory that an xz file may ask for; ``xz -9`` asks for 65 MiB."""


class Decompressor(Protocol):
    """What decompresses one frame, whichever module makes it."""

    @property
    def eof(self) -> bool:
        """Whether the frame has ended."""

    @property
    def unused_data(self) -> bytes:
        """What came behind its end."""

    def decompress(self, data: bytes, /) -> bytes:
        """Return what further bytes of it hold."""


def open_frames(path: Path) -> IO[bytes]:
    """Open a compressed file.

    Args:
        path: a file that exists; its suffix, .xz, .bz2 or .zst, says how it is compressed.

    Returns:
        A stream of the decompressed bytes; where the file is damaged or cut short, reading raises an OSError.

    Raises:
        MissingExtraError: for ``.zst`` without zstandard, before Python 3.14.
        OSError: if the file cannot be opened.
    """
    suffix = path.suffix.lower()
    decompressor: Callable[[], Decompressor]
    if suffix == ".xz":
        decompressor = _xz
    elif suffix == ".bz2":
        decompressor = bz2.BZ2Decompressor
    else:
        decompressor = _zstandard(path)
    return io.BufferedReader(
        _Frames(path.open("rb"), decompressor, padding=b"\0" if suffix == ".xz" else b"")
    )


def _xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=_DICTIONARY)


def _zstandard(path: Path) -> Callable[[], Decompressor]:
    """Return what makes the decompressor of one frame: of Python 3.14's own module, else of the package."""
    try:
        return cast(Callable[[], Decompressor], importlib.import_module("compression.zstd").ZstdDecompressor)
    except ImportError:
        pass
    try:
        package = importlib.import_module("zstandard")
    except ImportError as error:
        raise MissingExtraError("zstandard", "zstd", f"reading {path}") from error
    return lambda: package.ZstdDecompressor().decompressobj()


class _Frames(io.RawIOBase):
    """Decompresses frame after frame; between two, and after the last, only padding may stand."""

    def __init__(self, packed: IO[bytes], decompressor: Callable[[], Decompressor], padding: bytes) -> None:
        self._packed, self._decompressor, self._padding = packed, decompressor, padding
        self._frame: Decompressor | None = None
        self._begun = False
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._ready:
            piece = self._packed.read(_PIECE)
            if not piece:
                if self._frame is not None or not self._begun:
                    raise OSError("it ends inside a frame" if self._begun else "it is empty")
                return 0
            self._ready = memoryview(self._unpack(piece))
        into = memoryview(buffer).cast("B")
        count = min(len(into), len(self._ready))
        into[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _unpack(self, piece: bytes) -> bytes:
        found = []
        while piece:
            if self._frame is None:
                if self._begun and self._padding and not (piece := piece.lstrip(self._padding)):
                    break
                self._frame, self._begun = self._decompressor(), True
            try:
                found.append(self._frame.decompress(piece))
            except Exception as error:  # each module has its own
                raise OSError(str(error)) from error
            piece = b""
            if self._frame.eof:
                piece, self._frame = self._frame.unused_data, None
        return b"".join(found)

    def close(self) -> None:
        self._packed.close()
        super().close()
