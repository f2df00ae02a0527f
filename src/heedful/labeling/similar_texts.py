"""How alike texts are by their words, for pools of 100,000 texts in milliseconds, without a model."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_MOST = 60
"""Words of a text that are looked at."""
_ALONE = 0.5
"""What a word of one text alone counts beside what it would by its rarity: numbers and names make few texts unlike."""
_PAUSE = 2_000
"""Texts after which the thread that makes the index lets others go on."""


def words_of(texts: Sequence[str]) -> list[str]:
    """Return the different words of a text or a pair, in small letters."""
    return list(dict.fromkeys(word for text in texts for word in _WORD.findall(text.casefold())))[:_MOST]


class SimilarTexts:
    """Cosines between texts as bags of words, each word as rare as it is (idf); made in a thread of its own.

    Args:
        texts: of the pool.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._texts = texts
        self._ready = threading.Event()
        threading.Thread(target=self._make, name="similar texts", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until the index is made; return whether it is."""
        return self._ready.wait(seconds)

    @property
    def is_ready(self) -> bool:
        """Whether the index is made."""
        return self._ready.is_set()

    def to(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how alike each text of the pool is to a text.

        Args:
            texts: a text or a pair.

        Returns:
            [N] numbers from 0 to 1; zeros while the index is not ready.
        """
        found = np.zeros(len(self._texts), np.float32)
        if not self.is_ready:
            return found
        ids = [self._ids[word] for word in words_of(texts) if word in self._ids]
        length = float(np.sqrt(np.square(self._rarity[ids]).sum())) if ids else 0.0
        for each in ids:
            places = self._places[self._starts[each] : self._starts[each + 1]]
            found[places] += self._rarity[each] ** 2
        lengths = self._lengths * length
        return np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)

    def _make(self) -> None:
        ids: dict[str, int] = {}
        words, lengths = list[int](), list[int]()
        for number, texts in enumerate(self._texts, 1):
            own = [ids.setdefault(word, len(ids)) for word in words_of(texts)]
            words += own
            lengths.append(len(own))
            if number % _PAUSE == 0:
                threading.Event().wait(0.001)
        word = np.array(words, np.int64)
        place = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        order = np.argsort(word, kind="stable")
        counts = np.bincount(word, minlength=len(ids))
        self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self._places = place[order]
        self._rarity = np.log1p(len(lengths) / np.maximum(counts, 1)).astype(np.float32)
        self._rarity[counts == 1] *= _ALONE
        squares = np.bincount(place, weights=np.square(self._rarity[word]), minlength=len(lengths))
        self._lengths = np.sqrt(squares).astype(np.float32)
        self._ids = ids
        self._ready.set()
