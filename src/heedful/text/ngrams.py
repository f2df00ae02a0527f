"""Character n-grams of a word, hashed to the rows of one table, so that no word is without a vector (after floret)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError

MOST_ROWS = 1 << 24
_LONGEST = 16
_REMEMBERED = 1 << 16
BEGIN, END = "<", ">"
"""Marks in front of a word and behind it."""


@dataclass(frozen=True)
class NgramRule:
    """Which n-grams a word has, and which rows of the table they have.

    An n-gram is a run of ``shortest`` to ``longest`` characters of ``<word>``; a word too short for one is its own. Its
    rows are taken from the 8-byte BLAKE2b digest of its UTF-8 form: the first 4 bytes, little-endian, modulo the number
    of rows, and with two hashes the other 4 bytes likewise. So they are the same on every machine.

    Attributes:
        rows: of the table, 1 to 16,777,216.
        shortest: characters of the shortest n-gram, marks counted.
        longest: characters of the longest.
        hashes: rows of each n-gram, 1 or 2.
        cased: whether capitals are kept, also where words are lower-cased to be looked up; and the shape of a word,
            such as "Xx" for "Dublin" and "dx" for "3rd", is then one more n-gram.

    Raises:
        UsageError: if a number is out of its range.
    """

    rows: int = 20_000
    shortest: int = 3
    longest: int = 5
    hashes: int = 1
    cased: bool = False
    _known: dict[str, NDArray[np.int32]] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    def __post_init__(self) -> None:
        for name, least, most in (
            ("rows", 1, MOST_ROWS),
            ("shortest", 1, _LONGEST),
            ("longest", self.shortest, _LONGEST),
            ("hashes", 1, 2),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise UsageError(f"subwords: {name} must be from {least} to {most:,}; got {value!r}")
        if type(self.cased) is not bool:
            raise UsageError(f"subwords: cased must be true or false; got {self.cased!r}")

    def rows_of(self, word: str) -> NDArray[np.int32]:
        """Return the rows of a word's n-grams, at least one; one that occurs twice is there twice."""
        found = self._known.get(word)
        if found is None:
            found = np.array([row for ngram in self._ngrams(word) for row in self._hashed(ngram)], np.int32)
            if len(self._known) < _REMEMBERED:
                self._known[word] = found
        return found

    def _ngrams(self, word: str) -> Iterator[str]:
        marked = f"{BEGIN}{word}{END}"
        if self.cased:
            yield f"{BEGIN}{BEGIN}{_shape(word)}"
        if len(marked) < self.shortest:
            yield marked
        for length in range(self.shortest, self.longest + 1):
            for start in range(len(marked) - length + 1):
                yield marked[start : start + length]

    def _hashed(self, ngram: str) -> list[int]:
        digest = hashlib.blake2b(ngram.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        parts = (digest[:4], digest[4:])[: self.hashes]
        return [int.from_bytes(part, "little") % self.rows for part in parts]


def _shape(word: str) -> str:
    """Return the kinds of a word's characters, runs of one kind once: X capital, x letter, d digit, else itself."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return "".join(kind for kind, _ in groupby(kinds))
