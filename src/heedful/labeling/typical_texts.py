"""Texts that stand for many others of a pool, chosen one after the other: what a few labels are best given to.

Of a sample of the pool the text comes next that brings the others nearest to some labeled text, by the sum of their
similarities (facility location; Wei, Iyer, Bilmes, 2015, "Submodularity in data subset selection and active learning").
So it is like many texts that no labeled one is like, where the text that is least like the labeled ones is often one of
a kind. English texts are compared by the vectors of the sentence encoder en-sentences where heedful-en is installed,
others by their words.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from heedful.errors import HeedfulError
from heedful.labeling.similar_texts import words_of
from heedful.runtime.kernels import Floats
from heedful.text.english import is_english

if TYPE_CHECKING:
    from heedful.labeling.pool import Pool, Texts

_SAMPLE = 2_000
"""Texts that are compared with each other, the first of the pool's random order: 16 MB of similarities."""
_PART = 16
"""Texts that the encoder reads at a time, so that the page is answered between."""
_WORDS = 40
"""Words of a text that the encoder reads, about so many."""
_ALONE = 0.5
"""What a word of one text alone counts beside what it would by its rarity."""


class TypicalTexts:
    """Chooses texts that stand for others; what it needs to know of them is computed in a thread of its own.

    Args:
        pool: the texts.
    """

    def __init__(self, pool: Pool) -> None:
        self._places = pool.order[:_SAMPLE]
        self._own = {key: number for number, key in enumerate(pool.keys[place] for place in self._places)}
        self._keys = list(self._own)
        self._texts = [pool.texts[place] for place in self._places]
        self._waiting: list[str] = []
        self._alike: Floats = np.zeros((0, 0), np.float32)
        self._near: Floats = np.zeros(0, np.float32)
        self._ready = threading.Event()
        threading.Thread(target=self._compare, name="typical texts", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Wait until the texts are compared; return whether they are."""
        return self._ready.wait(seconds)

    def saw(self, key: str) -> None:
        """Take note of a text that was labeled."""
        if key in self._own:
            self._waiting.append(key)

    def choose(self, is_free: Callable[[str], bool]) -> int | None:
        """Choose the text that stands for most others.

        Args:
            is_free: tells of a key whether nobody has the text yet.

        Returns:
            Its place in the pool; None where the sample has none left, or is not compared yet.
        """
        free = [number for number, key in enumerate(self._keys) if is_free(key)]
        if not free or not self._ready.is_set():
            return None
        for key in self._waiting:
            np.maximum(self._near, self._alike[self._own[key]], out=self._near)
        self._waiting = []
        gains = np.maximum(self._alike[free] - self._near, 0).sum(1)
        return self._places[free[int(gains.argmax())]]

    def _compare(self) -> None:
        self._alike = by_meaning(self._texts) if _is_read(self._texts) else by_words(self._texts)
        self._near = np.zeros(len(self._texts), np.float32)
        self._ready.set()


def _is_read(texts: Sequence[Texts]) -> bool:
    """Return whether the sentence encoder reads the texts."""
    from heedful.runtime.encoder_states import EN_SENTENCES
    from heedful.storage.named_models import packaged_models

    return is_english(text for each in texts for text in each) and EN_SENTENCES in packaged_models()


def by_meaning(texts: Sequence[Texts]) -> Floats:
    """Compare texts by the sentence encoder: cosines of what distinguishes their vectors from the mean, at least 0.

    Args:
        texts: N texts or pairs; of a pair both vectors are looked at.

    Returns:
        [N, N] similarities.
    """
    from heedful.opening import open_model
    from heedful.runtime.encoder_states import EN_SENTENCES

    sides = list(zip(*texts, strict=True))
    try:
        model = open_model(EN_SENTENCES, max_tokens=_WORDS, truncate="head")
        vectors = np.hstack([np.vstack([model.encode(part) for part in _parts(side)]) for side in sides])
    except HeedfulError:  # an encoder that is damaged, or a text that it does not read
        return by_words(texts)
    vectors -= vectors.mean(0)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return np.maximum(vectors @ vectors.T, 0)


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    return (list(texts[start : start + _PART]) for start in range(0, len(texts), _PART))


def by_words(texts: Sequence[Texts]) -> Floats:
    """Compare texts by their words: cosines of bags of words, each word as rare as it is.

    Args:
        texts: N texts or pairs.

    Returns:
        [N, N] similarities.
    """
    found: dict[str, list[int]] = {}
    for number, each in enumerate(texts):
        for word in words_of(each):
            found.setdefault(word, []).append(number)
    alike = np.zeros((len(texts), len(texts)), np.float32)
    for places in found.values():
        weight = np.log1p(len(texts) / len(places)) * (_ALONE if len(places) == 1 else 1)
        alike[np.ix_(places, places)] += weight**2
    lengths = np.sqrt(np.maximum(alike.diagonal(), 1e-9))
    alike /= lengths[:, None]
    alike /= lengths
    return alike
