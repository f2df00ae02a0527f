"""The tag of one word as a function of the other words of its text. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from heedful.errors import UsageError
from heedful.explain.methods.question import Kept, Question, remaining

Shares = Callable[[list[tuple[str, ...]], list[int]], ArrayLike]
"""Lists of words, and a place in each, to the probability of the tag there, [N]."""


def place_of(words: Sequence[str], probabilities: Sequence[float], word: int | str | None) -> int:
    """Find the word whose tag is explained.

    Args:
        words: of the text.
        probabilities: of their tags.
        word: the word, or its number from 1; None for the word whose tag is least certain.

    Returns:
        Its place, from 0.

    Raises:
        UsageError: if the text has no such word.
    """
    if word is None:
        return int(np.argmin(probabilities))
    if isinstance(word, str) and word in words:
        return list(words).index(word)
    plain = str(word)
    number = int(plain) if plain.isascii() and plain.isdigit() else 0
    if not 1 <= number <= len(words):
        raise UsageError(f"word {word!r}: expected a word of the text, or its number from 1 to {len(words)}")
    return number - 1


def asked_about_tag(
    words: Sequence[str], place: int, tag: str, shares: Shares, mask: str | None = None
) -> Question:
    """Ask a model about the tag of one word for any choice of the other words; the word itself always remains.

    Args:
        words: of the text.
        place: of the word, from 0.
        tag: that the model gives it.
        shares: lists of words, and the place of the word in each, to the probability of the tag.
        mask: what stands in the place of a word that is taken away; None deletes it.

    Returns:
        The question.
    """

    def values(choices: Sequence[Kept]) -> ArrayLike:
        texts = [tuple(remaining(words, kept[0], mask)) for kept in choices]
        return shares(texts, [kept[0].index(place) if mask is None else place for kept in choices])

    of = f"the probability of “{tag}” for “{words[place]}”"
    return Question((tuple(words),), values, of, frozenset({(0, place)}), mask)
