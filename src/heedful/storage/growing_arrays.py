"""Large arrays that grow block by block: small ones in memory, larger ones in a file without a name.

Reading texts gives numbers that take more room than the texts. Whoever writes them once and then reads them in order
needs no more than a block of them in memory. The file lies in the folder for temporary files (``TMPDIR``); the system
removes it when the array is gone or the process ends, however it ends.
"""

from __future__ import annotations

import mmap
import tempfile
from typing import IO, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.errors import OutputError

MOST_BYTES = 1 << 26
"""Bytes up to which an array stays in memory."""
Number = TypeVar("Number", bound=np.generic)


class GrowingArray(Generic[Number]):
    """An array to which rows are added at the end.

    Args:
        kind: type of the numbers.
        width: numbers of a row; 0 for an array of one dimension.
        most: bytes up to which it stays in memory.
    """

    def __init__(self, kind: type[Number], width: int = 0, most: int = MOST_BYTES) -> None:
        self._kind, self._width, self._most = kind, width, most
        self._blocks: list[NDArray[Number]] = []
        self._file: IO[bytes] | None = None
        self._bytes = 0

    def append(self, rows: NDArray[np.generic]) -> None:
        """Add rows.

        Args:
            rows: [n] or [n, width]; converted to the type of the array.

        Raises:
            OutputError: if the file for what does not fit in memory cannot be written.
        """
        block = np.ascontiguousarray(rows, self._kind)
        self._bytes += block.nbytes
        if self._file is None and self._bytes <= self._most:
            self._blocks.append(block)
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="heedful-")  # noqa: SIM115 - `finished` closes it
                for earlier in self._blocks:
                    self._file.write(earlier.data)
                self._blocks = []
            self._file.write(block.data)
        except OSError as error:
            raise _full(error) from error

    def finished(self) -> NDArray[Number]:
        """Return the array; no row can be added afterwards.

        Returns:
            [N] or [N, width]; of a file a view that can only be read, of which pages come into memory as they are read.

        Raises:
            OutputError: if the file cannot be written.
        """
        shape = (-1, self._width) if self._width else (-1,)
        if self._file is None:
            rows = np.concatenate([np.zeros(0, self._kind), *(block.ravel() for block in self._blocks)])
            self._blocks = []
            return rows.reshape(shape)
        try:
            with self._file:
                self._file.flush()
                mapped = np.asarray(np.memmap(self._file, self._kind, "r"))
        except OSError as error:
            raise _full(error) from error
        return mapped.reshape(shape)


def released(array: NDArray[Any]) -> None:
    """Take the pages of a file out of this process's memory; they are read again when they are needed.

    Args:
        array: any array; only of one that lies in a file is there anything to do.
    """
    own: Any = array
    while own is not None and not isinstance(own, mmap.mmap):
        own = getattr(own, "_mmap", None) or getattr(own, "base", None)
    if own is not None and hasattr(own, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
        own.madvise(mmap.MADV_DONTNEED)


def _full(error: OSError) -> OutputError:
    return OutputError(
        f"{tempfile.gettempdir()}: no room for temporary files: {error.strerror or error}. Free some space there, or "
        "name another folder as TMPDIR"
    )
