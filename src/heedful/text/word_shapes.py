"""What a linear model reads of a word to give it a tag: the word, its ends, its shape, and those of its neighbors.

Each feature has a number that is the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.vocabulary import MASK

Numbers = NDArray[np.int32]
_MOST = 16
_REMEMBERED = 1 << 17
_LONGEST = 40
BEFORE, BEHIND = "\N{START OF TEXT}", "\N{END OF TEXT}"
"""What stands in front of the first word and behind the last one."""


@dataclass(frozen=True, slots=True)
class WordFeature:
    """One feature of a word.

    Attributes:
        number: of the feature.
        start: the first word that it reads, from 0; below 0 where that is before the text.
        end: the word after the last.
        text: what it says, such as ``-1 ends ing``.
    """

    number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class WordShapes:
    """Which features a word has.

    Of the word itself: it, in lower case and as it is written, its first and last characters, and its shape: runs of
    capitals as X, of small letters as x, of digits as d, other characters as they are. Of the next neighbors: the
    word, its last characters and its shape; of further ones the word and its shape. Both pairs of neighbors with the
    word, and the shapes of three words. Beyond the text stand two marks.

    A feature's number is 31 bits of the 8-byte BLAKE2b digest of its UTF-8 form.

    Attributes:
        affixes: characters of the longest beginning and ending, up to 16; 0 for none.
        reach: how many words on each side are read, up to 16.

    Raises:
        UsageError: if a number is out of its range.
    """

    affixes: int = 4
    reach: int = 2

    def __post_init__(self) -> None:
        for name in ("affixes", "reach"):
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value <= _MOST:
                raise UsageError(f"word shapes: {name} must be from 0 to {_MOST}; got {value!r}")

    def numbers(self, words: Sequence[str]) -> list[Numbers]:
        """Return the numbers of the features of each word of a text; a masked word has part in none.

        Args:
            words: of the text, as they are written.

        Returns:
            One array a word.
        """
        around = self._around(words)
        found = []
        for place in range(len(words)):
            parts = [_numbers_at(self, around[place + k], k - self.reach) for k in range(2 * self.reach + 1)]
            joint = [_number(text) for _, _, text in self._joint(around, place)]
            found.append(np.concatenate([*parts, np.array(joint, np.int32)]))
        return found

    def features(self, words: Sequence[str], place: int) -> Iterator[WordFeature]:
        """Yield the features of one word; see `numbers`, whose order this is.

        Args:
            words: of the text.
            place: of the word, from 0.

        Yields:
            The features of single words first.
        """
        around = self._around(words)
        for k in range(2 * self.reach + 1):
            offset = k - self.reach
            own = zip(
                _numbers_at(self, around[place + k], offset).tolist(),
                _texts_at(self, around[place + k], offset),
                strict=True,
            )
            for number, text in own:
                yield WordFeature(number, place + offset, place + offset + 1, text)
        for start, end, text in self._joint(around, place):
            yield WordFeature(_number(text), place + start, place + end, text)

    def _around(self, words: Sequence[str]) -> list[str]:
        return [BEFORE] * self.reach + list(words) + [BEHIND] * self.reach

    def _joint(self, around: Sequence[str], place: int) -> Iterator[tuple[int, int, str]]:
        """Yield the features of several words at a place: first and last offset, and what each says."""
        if not self.reach:
            return
        left, own, right = around[place + self.reach - 1 : place + self.reach + 2]
        if MASK in (left, own, right):
            return
        yield -1, 1, f"-1..0 {left.lower()} {own.lower()}"
        yield 0, 2, f"0..1 {own.lower()} {right.lower()}"
        yield -1, 2, f"-1..1 shapes {shape_of(left)} {shape_of(own)} {shape_of(right)}"


@lru_cache(maxsize=_REMEMBERED)
def shape_of(word: str) -> str:
    """Return the shape of a word: X for capitals, x for small letters, d for digits, each run once; others as they are.

    Args:
        word: as it is written.

    Returns:
        Such as ``Xx`` of "Paris" and ``d-Xx`` of "24-Hour"; a long one is cut.
    """
    kinds = ("X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c for c in word)
    return "".join(kind for kind, _ in groupby(kinds))[:_LONGEST]


@lru_cache(maxsize=_REMEMBERED)
def _numbers_at(rule: WordShapes, word: str, offset: int) -> Numbers:
    found = np.array([_number(text) for text in _texts_at(rule, word, offset)], np.int32)
    found.setflags(write=False)
    return found


def _texts_at(rule: WordShapes, word: str, offset: int) -> list[str]:
    """Return what the features of one word say, as seen from a place so many words away."""
    if word == MASK:
        return []
    low = word.lower()
    said = [f"is {low}", f"shape {shape_of(word)}"]
    ends = [f"ends {low[-n:]}" for n in range(1, min(rule.affixes, len(low) - 1) + 1)]
    if offset == 0:
        begins = [f"begins {low[:n]}" for n in range(1, min(rule.affixes, len(low) - 1) + 1)]
        said += [f"written {word}", *begins, *ends]
    elif abs(offset) == 1:
        said += ends[1:3]
    return [f"{offset} {text}" for text in said]


@lru_cache(maxsize=_REMEMBERED)
def _number(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % (1 << 31)
