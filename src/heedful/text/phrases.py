"""What a linear model reads of a text, as numbers: words, pairs of neighbors, and runs of characters inside words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.vocabulary import MASK

WORDS, CHARACTERS = 0, 1
"""The two kinds of features; the lowest bit of a number says which kind it is."""
_MOST = 16
_REMEMBERED = 1 << 16

WIDE = (2, 2, 5)
"""Phrases of one and two words, and runs of 2 to 5 characters: what a wide part reads."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """One feature of a text.

    Attributes:
        number: of the feature.
        start: the first word that it touches, from 0.
        end: the word after the last.
        text: what it says; of a run of characters, with ``<`` and ``>`` at the edges of the word.
    """

    number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class PhraseRule:
    """Which features a text has; all words are lower-cased.

    A feature's number is 30 bits of the 8-byte BLAKE2b digest of its UTF-8 form, and one bit for its kind, so that it
    is the same on every machine. Among a million features about 500 pairs share a number.

    Attributes:
        words: words of the longest phrase, up to 16; 0 for no phrases.
        shortest: characters of the shortest run, edges counted.
        longest: characters of the longest run, up to 16; 0 for no runs.

    Raises:
        UsageError: if a number is out of its range.
    """

    words: int = 0
    shortest: int = 2
    longest: int = 0

    def __post_init__(self) -> None:
        for name, least in (("words", 0), ("shortest", 1), ("longest", 0)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= _MOST:
                raise UsageError(f"wide: {name} must be from {least} to {_MOST}; got {value!r}")

    @property
    def reads(self) -> bool:
        """Whether there are any features; by default there are none."""
        return bool(self.words or self.longest)

    def numbers(self, words: Sequence[str], side: int = 0) -> NDArray[np.int32]:
        """Return the features of a text.

        Args:
            words: of the text.
            side: 0 for a text or the first of a pair, 1 for the second; the same word is another feature there.

        Returns:
            The numbers, each once, ascending.
        """
        folded = _folded(words)
        phrases = [_number(WORDS, side, text) for _, _, text in self._spans(folded)]
        runs = [_numbers_of(self, side, word) for word in dict.fromkeys(folded) if word != MASK]
        return np.unique(np.concatenate([np.array(phrases, np.int32), *runs]))

    def phrases(self, words: Sequence[str], side: int = 0) -> Iterator[Phrase]:
        """Yield every occurrence of every feature of a text; see `numbers`.

        Args:
            words: of the text.
            side: which text of a pair it is.

        Yields:
            Phrases of words first, then the runs of characters of each word.
        """
        folded = _folded(words)
        for start, end, text in self._spans(folded):
            yield Phrase(_number(WORDS, side, text), start, end, text)
        for place, word in enumerate(folded):
            if word == MASK:
                continue
            numbers = _numbers_of(self, side, word)
            for number, text in zip(numbers.tolist(), self._texts(word), strict=True):
                yield Phrase(number, place, place + 1, text)

    def _spans(self, words: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        for length in range(1, self.words + 1):
            for start in range(len(words) - length + 1):
                if MASK not in words[start : start + length]:
                    yield start, start + length, " ".join(words[start : start + length])

    def _texts(self, word: str) -> list[str]:
        marked = f"<{word}>"
        return [
            marked[start : start + length]
            for length in range(self.shortest, self.longest + 1)
            for start in range(len(marked) - length + 1)
        ]


def _folded(words: Sequence[str]) -> list[str]:
    """Return the words in lower case; a masked word stays what it is, and is part of no feature."""
    return [word if word == MASK else word.lower() for word in words]


@lru_cache(maxsize=_REMEMBERED)
def _numbers_of(rule: PhraseRule, side: int, word: str) -> NDArray[np.int32]:
    return np.array([_number(CHARACTERS, side, text) for text in rule._texts(word)], np.int32)


@lru_cache(maxsize=_REMEMBERED)
def _number(kind: int, side: int, text: str) -> int:
    content = f"{kind}{side}{text}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(content, digest_size=8).digest()
    return int.from_bytes(digest, "little") % (1 << 30) * 2 + kind
