"""floret's text files: no words, only one table that words and their n-grams are hashed to.

The header is ``buckets D shortest longest hashes seed begin end``; then each line is the number of a bucket and its
vector. A word's vector is the mean of the rows of the whole word and of its n-grams, each of which has one to four rows
by MurmurHash3 (https://github.com/explosion/floret).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.errors import DataError
from heedful.text.text_files import numbered_lines
from heedful.text.vectors.initial import Matrix, Speller, WordVectors
from heedful.text.vectors.plain import blocks_of, parse_numbers, split_block

HEADER = re.compile(rb"(\d{1,12}) (\d{1,6}) (\d{1,3}) (\d{1,3}) ([1-4]) (\d{1,10}) (\S{1,20}) (\S{1,20})")
_MASK = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class FloretSpeller(Speller):
    """The table of a floret file.

    Attributes:
        rows: [buckets, D] float32.
        shortest: characters of the shortest n-gram.
        longest: characters of the longest.
        hashes: rows that each n-gram has, 1 to 4.
        seed: of the hash.
        begin: mark in front of a word.
        end: mark behind it.
    """

    rows: Matrix
    shortest: int
    longest: int
    hashes: int
    seed: int
    begin: str = "<"
    end: str = ">"
    _known: dict[str, list[int]] = field(default_factory=dict, repr=False)

    def spell(self, words: Sequence[str]) -> tuple[Matrix, NDArray[np.bool_]]:
        """See `Speller.spell`; every word but the empty one has a vector."""
        vectors = np.zeros((len(words), self.rows.shape[1]), np.float32)
        for number, word in enumerate(words):
            if word:
                buckets = [bucket for ngram in self._ngrams(word) for bucket in self._buckets(ngram)]
                vectors[number] = self.rows[buckets].mean(axis=0, dtype=np.float64)
        return vectors, np.array([bool(word) for word in words], bool)

    def _ngrams(self, word: str) -> list[str]:
        marked = f"{self.begin}{word}{self.end}"
        lengths = range(self.shortest, self.longest + 1)
        return [marked] + [
            marked[start : start + length] for length in lengths for start in range(len(marked) - length + 1)
        ]

    def _buckets(self, ngram: str) -> list[int]:
        found = self._known.get(ngram)
        if found is None:
            low, high = murmur3(ngram.encode("utf-8", "surrogatepass"), self.seed)
            four = (low & 0xFFFFFFFF, low >> 32, high & 0xFFFFFFFF, high >> 32)
            found = self._known[ngram] = [number % len(self.rows) for number in four[: self.hashes]]
        return found


def murmur3(content: bytes, seed: int) -> tuple[int, int]:
    """Return the 128-bit MurmurHash3 for 64-bit machines (Austin Appleby, public domain).

    Args:
        content: what is hashed.
        seed: 32 bits.

    Returns:
        The lower and the upper 64 bits.
    """
    first, second = 0x87C37B91114253D5, 0x4CF5AD432745937F
    low = high = seed
    whole = len(content) // 16 * 16
    for start in range(0, whole, 16):
        a, b = struct.unpack_from("<2Q", content, start)
        low ^= _turned(a * first & _MASK, 31) * second & _MASK
        low = ((_turned(low, 27) + high) * 5 + 0x52DCE729) & _MASK
        high ^= _turned(b * second & _MASK, 33) * first & _MASK
        high = ((_turned(high, 31) + low) * 5 + 0x38495AB5) & _MASK
    a, b = struct.unpack("<2Q", content[whole:].ljust(16, b"\0"))
    high ^= _turned(b * second & _MASK, 33) * first & _MASK
    low ^= _turned(a * first & _MASK, 31) * second & _MASK
    low, high = low ^ len(content), high ^ len(content)
    low = (low + high) & _MASK
    high = (high + low) & _MASK
    low, high = _mixed(low), _mixed(high)
    low = (low + high) & _MASK
    return low, (high + low) & _MASK


def _turned(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & _MASK


def _mixed(value: int) -> int:
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _MASK
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return value ^ value >> 33


def read_floret(file: Path) -> WordVectors:
    """Read a text file of floret.

    Args:
        file: the file, plain or compressed.

    Returns:
        No words, and a speller for every word.

    Raises:
        DataError: naming file and line: a bucket out of order, a wrong width, not a finite number, or fewer buckets
            than the header says.
    """
    lines = numbered_lines(file)
    _, first = next(lines)
    match = HEADER.fullmatch(first)
    if match is None:
        raise DataError(f"{file}: line 1: expected the header of a floret file")
    buckets, width, shortest, longest, hashes, seed = (int(field) for field in match.groups()[:6])
    if not (buckets and width and 1 <= shortest <= longest and seed < 1 << 32):
        raise DataError(f"{file}: line 1: a floret file with {first.decode('utf-8', 'replace')!r} cannot be")
    matrices, total = [], 0
    for block in blocks_of(lines):
        kept = split_block(block, width, file, None, False)
        for number, bucket, _ in kept:
            if bucket != str(total):
                raise DataError(f"{file}: line {number}: expected bucket {total}, got {bucket!r:.40}")
            total += 1
        matrices.append(parse_numbers(kept, width, file))
    if total != buckets:
        raise DataError(
            f"{file}: the header announces {buckets} buckets, the file holds {total}. Download the file again."
        )
    marks = (match[7].decode("utf-8", "replace"), match[8].decode("utf-8", "replace"))
    speller = FloretSpeller(np.concatenate(matrices), shortest, longest, hashes, seed, *marks)
    return WordVectors((), np.zeros((0, width), np.float32), speller)
