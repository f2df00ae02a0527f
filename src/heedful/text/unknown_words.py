"""What stands for an unknown word: the known word that it is most likely a misspelling of, and its character n-grams.

The nearest known word is the most frequent one that is one edit away: one character is missing, added, replaced, or
swapped with its neighbor. For the first unknown words every such form is looked up, which needs no preparation. After
that all known words are indexed by themselves and by what is left when one character is taken out: two words one edit
apart share such a form (Garbe's symmetric deletion), so that a look-up costs as many probes as the word has characters.
The n-grams are hashed to the rows of one table, so that no word is without a vector (after
floret).
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, repeat
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError

SHORTEST = 4
"""Characters of the shortest word that is corrected, and of the shortest that it is corrected to."""
MOST_LETTERS = 150
"""Letters of the known words above which the words are indexed at once."""
UNPREPARED = 1_000
"""Unknown words that are looked up before the known words are indexed: about as long as that takes."""
UNSORTED = 50
"""Unknown words that are looked up before the known words are sorted: likewise."""
_LONGEST_WORD = 40


class Nearest:
    """Known words, to be found by a misspelling.

    Args:
        words: the known words, most frequent first; only those of letters alone and of 4 to 40 characters count.
        places: rising numbers of these words, and larger ones of others; None to make them.
    """

    def __init__(self, words: Sequence[str], places: Mapping[str, int] | None = None) -> None:
        self._all = words
        self._places = {word: n for n, word in enumerate(words)} if places is None else places
        self._first = places[words[0]] if places and words else 0
        self._found: dict[str, str] = {}

    def word(self, unknown: str) -> str:
        """Return the most frequent known word that is one edit away; empty where there is none.

        Args:
            unknown: a word that is not known.

        Returns:
            The known word.
        """
        if not _counts(unknown):
            return ""
        found = self._found.get(unknown)
        if found is None:
            near = (self._all[n] for n in sorted(self._near(unknown)))
            found = next((word for word in near if _counts(word) and one_edit(unknown, word)), "")
            if len(self._found) < 1 << 16:
                self._found[unknown] = found
        return found

    def _near(self, unknown: str) -> set[int]:
        """Return the numbers of all known words one edit away, and perhaps of others."""
        if len(self._letters) > MOST_LETTERS or len(self._found) >= UNPREPARED:
            sums, words = self._index
            own = np.array([_sum(form) for form in (unknown, *_deletions(unknown))], np.uint32)
            ends = zip(np.searchsorted(sums, own), np.searchsorted(sums, own, side="right"), strict=True)
            return {number for start, end in ends for number in words[start:end].tolist()}
        begins = self._begins if len(self._found) >= UNSORTED else _always
        forms = _edits(unknown, self._letters, begins)
        numbers = {self._places[form] - self._first for form in forms if form in self._places}
        return {number for number in numbers if number < len(self._all)}

    def _begins(self, start: str) -> bool:
        """Return whether a known word begins so."""
        place = bisect_left(self._sorted, start)
        return place < len(self._sorted) and self._sorted[place].startswith(start)

    @cached_property
    def _letters(self) -> list[str]:
        codes = np.frombuffer("".join(self._all).encode("utf-32-le", "surrogatepass"), np.uint32)
        return [letter for letter in map(chr, np.flatnonzero(np.bincount(codes))) if letter.isalpha()]

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(filter(_counts, self._all))

    @cached_property
    def _index(self) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
        """Return the checksum of each form, rising, and the number of its word: 8 bytes where texts take 300.

        Two forms of one checksum do no harm, because every word that is found is compared.
        """
        sums, numbers = array("I"), array("i")
        for number, word in enumerate(self._all):
            if _counts(word):
                forms = {word, *_deletions(word)}
                sums.extend(map(_sum, forms))
                numbers.extend(repeat(number, len(forms)))
        order = np.argsort(sums, kind="stable")
        return np.array(sums, np.uint32)[order], np.array(numbers, np.int32)[order]


def _sum(form: str) -> int:
    """Return a number for a form that is the same in every process, as a `Nearest` may be sent to others."""
    return crc32(form.encode("utf-8"))


def _always(start: str) -> bool:
    """Do not look how known words begin."""
    return True


def one_edit(first: str, second: str) -> bool:
    """Return whether two different words are one missing, added, replaced or swapped character apart."""
    if abs(len(first) - len(second)) > 1 or first == second:
        return False
    if len(first) != len(second):
        short, long = sorted((first, second), key=len)
        return any(long[:k] + long[k + 1 :] == short for k in range(len(long)))
    wrong = [k for k in range(len(first)) if first[k] != second[k]]
    if len(wrong) == 1:
        return True
    swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1
    return swapped and first[wrong[0]] == second[wrong[1]] and first[wrong[1]] == second[wrong[0]]


def _counts(word: str) -> bool:
    return SHORTEST <= len(word) <= _LONGEST_WORD and word.isalpha()


def _deletions(word: str) -> Iterator[str]:
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]


def _edits(word: str, letters: Sequence[str], begins: Callable[[str], bool]) -> Iterator[str]:
    """Yield the forms of a word that are one edit away, some of them twice, while a known word begins like them."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        if not begins(before):
            return  # every further form begins so too
        rest = after[1:]
        if after:
            yield before + rest
        for letter in letters:
            yield before + letter + after
            yield before + letter + rest
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]


MOST_ROWS = 1 << 24
_LONGEST_NGRAM = 16
LONGEST_WORD = 1000
"""Characters of a word that n-grams are taken from; the rest of a longer one costs time and says nothing."""
_REMEMBERED = 1 << 16
BEGIN, END = "<", ">"
"""Marks in front of a word and behind it."""


@dataclass(frozen=True)
class NgramRule:
    """Which n-grams a word has, and which rows of the table they have.

    An n-gram is a run of ``shortest`` to ``longest`` characters of ``<word>``; a word too short for one is its own, and
    of one longer than `LONGEST_WORD` the beginning counts. Its
    rows are taken from the 8-byte BLAKE2b digest of its UTF-8 form: the first 4 bytes, little-endian, modulo the number
    of rows, and with two hashes the other 4 bytes likewise. So they are the same on every machine.

    Attributes:
        rows: of the table, 1 to 16,777,216.
        shortest: characters of the shortest n-gram, marks counted.
        longest: characters of the longest.
        hashes: rows of each n-gram, 1 or 2.
        cased: whether capitals are kept, also where words are lower-cased to be looked up; and the shape of a word,
            such as "Xx" for "Dublin" and "dx" for "3rd", is then one more n-gram.
        unknown_alone: whether only words have n-grams that no row stands for, not even that of a nearest word.

    Raises:
        UsageError: if a number is out of its range.
    """

    rows: int = 20_000
    shortest: int = 3
    longest: int = 5
    hashes: int = 1
    cased: bool = False
    unknown_alone: bool = False
    _known: dict[str, NDArray[np.int32]] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )
    _rows: dict[str, list[int]] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    def __post_init__(self) -> None:
        for name, least, most in (
            ("rows", 1, MOST_ROWS),
            ("shortest", 1, _LONGEST_NGRAM),
            ("longest", self.shortest, _LONGEST_NGRAM),
            ("hashes", 1, 2),
        ):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise UsageError(f"subwords: {name} must be from {least} to {most:,}; got {value!r}")
        for name in ("cased", "unknown_alone"):
            if type(getattr(self, name)) is not bool:
                raise UsageError(f"subwords: {name} must be true or false; got {getattr(self, name)!r}")

    def rows_of(self, word: str) -> NDArray[np.int32]:
        """Return the rows of a word's n-grams, at least one; one that occurs twice is there twice."""
        word = word[:LONGEST_WORD]
        found = self._known.get(word)
        if found is None:
            found = np.array(
                [row for ngram in self.ngrams_of(word) for row in self._rows_of(ngram)], np.int32
            )
            if len(self._known) < _REMEMBERED:
                self._known[word] = found
        return found

    def ngrams_of(self, word: str) -> Iterator[str]:
        """Yield the n-grams of a word, from the shortest to the longest."""
        marked = f"{BEGIN}{word}{END}"
        if self.cased:
            yield f"{BEGIN}{BEGIN}{_shape(word)}"
        if len(marked) < self.shortest:
            yield marked
        for length in range(self.shortest, self.longest + 1):
            for start in range(len(marked) - length + 1):
                yield marked[start : start + length]

    def _rows_of(self, ngram: str) -> list[int]:
        found = self._rows.get(ngram)
        if found is None:
            found = self._hashed(ngram)
            if len(self._rows) < _REMEMBERED:
                self._rows[ngram] = found
        return found

    def _hashed(self, ngram: str) -> list[int]:
        digest = hashlib.blake2b(ngram.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        parts = (digest[:4], digest[4:])[: self.hashes]
        return [int.from_bytes(part, "little") % self.rows for part in parts]


def _shape(word: str) -> str:
    """Return the kinds of a word's characters, runs of one kind once: X capital, x letter, d digit, else itself."""
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return "".join(kind for kind, _ in groupby(kinds))
