"""Reading binary files of word vectors piece by piece, so that nothing is allocated for bytes that are not there.

word2vec's files have a header `n D`, then for each word its bytes, a space and D float32.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from heedful.errors import DataError
from heedful.text.text_files import COMPRESSED, DAMAGE, damaged, open_bytes
from heedful.text.vectors.initial import WordVectors, chosen_rows

_PIECE = 1 << 20
LONGEST_WORD = 10_000
"""Bytes of a word; a longer one is a sign of a damaged file."""


class ByteReader:
    """A stream of bytes with a position, whose errors name the file and the byte.

    Args:
        stream: from `heedful.text.text_files.open_bytes`.
        file: the file.

    Attributes:
        file: the file, for messages.
        position: bytes that were taken.
    """

    def __init__(self, stream: BinaryIO, file: Path) -> None:
        self._stream, self.file = stream, file
        self._ready, self._at = b"", 0
        self.position = 0

    def refused(self, problem: str) -> DataError:
        """Return the error for what stands at the current position."""
        return DataError(f"{self.file}: byte {self.position + 1:,}: {problem}. Download the file again.")

    def peek(self, count: int) -> bytes:
        """Return the next bytes without taking them; fewer at the end of the file."""
        while len(self._ready) - self._at < count and self._more():
            pass
        return self._ready[self._at : self._at + count]

    def take(self, count: int, what: str) -> bytes:
        """Return the next bytes.

        Args:
            count: how many.
            what: they are, for the message.

        Returns:
            Exactly so many.

        Raises:
            DataError: if the file ends before.
        """
        found = bytearray()
        while len(found) < count:
            if self._at == len(self._ready) and not self._more():
                raise self.refused(f"the file ends inside {what}")
            piece = self._ready[self._at : self._at + count - len(found)]
            found += piece
            self._at += len(piece)
            self.position += len(piece)
        return bytes(found)

    def until(self, end: bytes, what: str) -> bytes:
        """Return the bytes of a word, taking the byte that ends it as well.

        Args:
            end: that byte.
            what: the word is, for the message.

        Returns:
            The word, without the end.

        Raises:
            DataError: if there is no end within `LONGEST_WORD` bytes.
        """
        while (place := self._ready.find(end, self._at)) < 0:
            if len(self._ready) - self._at > LONGEST_WORD:
                break
            if not self._more():
                raise self.refused(f"the file ends inside {what}")
        if place < 0 or place - self._at > LONGEST_WORD:
            raise self.refused(f"{what} has more than {LONGEST_WORD:,} bytes")
        word = self._ready[self._at : place]
        self.position += len(word) + 1
        self._at = place + 1
        return word

    def values(self, layout: str, what: str) -> tuple[int, ...]:
        """Return whole numbers of a layout as `struct` writes it; see `take`."""
        return struct.unpack(layout, self.take(struct.calcsize(layout), what))

    def floats(self, rows: int, width: int, what: str) -> NDArray[np.float32]:
        """Return a matrix of little-endian float32, [rows, width]; see `take`."""
        flat = np.frombuffer(self.take(4 * rows * width, what), "<f4")
        return flat.reshape(rows, width).astype(np.float32, copy=False)

    def drain(self) -> None:
        """Read to the end, so that the checksum of a compressed file is looked at."""
        while self._more():
            self._at = len(self._ready)

    def _more(self) -> bool:
        """Read on; False at the end."""
        try:
            piece = self._stream.read(_PIECE)
        except DAMAGE as error:
            if self.file.suffix.lower() in COMPRESSED:
                raise damaged(str(self.file), error) from error
            raise DataError(f"{self.file}: cannot be read ({error})") from error
        self._ready, self._at = self._ready[self._at :] + piece, 0
        return bool(piece)


def decoded(word: bytes) -> str:
    """Return a word as text.

    Args:
        word: its bytes.

    Returns:
        The text. Bytes that are no UTF-8, which published files have in a few words, become lone surrogates: no word of
        a text is equal to such a word.
    """
    return word.decode("utf-8", "surrogateescape")


def check_finite(matrix: NDArray[np.float32], file: Path, names: Sequence[str] = ()) -> None:
    """Refuse vectors that are not finite.

    Args:
        matrix: the vectors.
        file: for the message.
        names: the word of each; empty for the rows of n-grams.

    Raises:
        DataError: naming the first such word.
    """
    good = np.isfinite(matrix).all(axis=1)
    if not good.all():
        which = f"the vector of {names[int(np.argmin(good))]!r:.60}" if names else "the vector of an n-gram"
        raise DataError(f"{file}: {which} holds numbers that are not finite. Download the file again.")


_BLOCK = 4096


def read_word2vec(file: Path, wanted: Collection[str] | None, *, lowercase: bool) -> WordVectors:
    """Read a binary file of word2vec.

    Args:
        file: the file, plain or compressed.
        wanted: keep only these words; None keeps all.
        lowercase: see `heedful.text.vectors.initial.chosen_rows`.

    Returns:
        The vectors.

    Raises:
        DataError: naming the byte or the vector: cut short, longer than the header says, not finite.
    """
    names, matrices = [], []
    with open_bytes(file) as stream:
        reader = ByteReader(stream, file)
        fields = reader.until(b"\n", "the header").split()
        count, width = int(fields[0]), int(fields[1])
        numbers: list[bytes] = []
        for number in range(count):
            word = decoded(reader.until(b" ", f"word {number + 1:,}").lstrip(b"\n"))
            vector = reader.take(4 * width, f"vector {number + 1:,}")
            folded = word.lower() if lowercase else word
            if wanted is None or folded in wanted:
                names.append(word)
                numbers.append(vector)
            if len(numbers) == _BLOCK:
                matrices.append(_matrix(numbers, width))
                numbers = []
        matrices.append(_matrix(numbers, width))
        if reader.peek(2).strip(b"\n"):
            raise reader.refused(f"the header announces {count:,} vectors, the file goes on after them")
    matrix = np.concatenate(matrices)
    check_finite(matrix, file, names)
    chosen = chosen_rows(names, None, lowercase=lowercase)
    return WordVectors(tuple(chosen), matrix[np.fromiter(chosen.values(), np.int64, len(chosen))])


def _matrix(numbers: list[bytes], width: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    flat = np.frombuffer(b"".join(numbers), "<f4").astype(np.float32, copy=False)
    return flat.reshape(len(numbers), width)
