"""Changed copies of a text, for a teacher to answer: masked words, swapped words, and runs of words.

The three rules are those of Tang et al. (2019), "Distilling Task-Specific Knowledge from BERT into Simple Neural
Networks".
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heedful.text.vocabulary import MASK

_LONGEST_RUN = 5
Words = tuple[str, ...]


@dataclass(frozen=True)
class ChangeRule:
    """How often a copy is changed.

    Attributes:
        mask: probability that a word becomes `MASK`.
        swap: probability that it becomes a word of its kind.
        ngram: probability that only a run of 1 to 5 words is left.
    """

    mask: float
    swap: float
    ngram: float


def frequency_kinds(texts: Sequence[Words]) -> list[Words]:
    """Return the kind of each word by how often the texts hold it: 1 time, 2 to 3, 4 to 7, and so on.

    Args:
        texts: the words of each text.

    Returns:
        One kind a word.
    """
    counts = Counter(word for words in texts for word in words)
    return [tuple(str(counts[word].bit_length()) for word in words) for words in texts]


class WordPools:
    """The words of each kind, drawn as often as the texts hold them.

    Args:
        texts: the words of each text.
        kinds: the kind of each of these words.
    """

    def __init__(self, texts: Sequence[Words], kinds: Sequence[Words]) -> None:
        counts: dict[str, Counter[str]] = {}
        for words, own in zip(texts, kinds, strict=True):
            for word, kind in zip(words, own, strict=True):
                counts.setdefault(kind, Counter())[word] += 1
        self._words = {kind: list(found) for kind, found in counts.items()}
        self._totals = {kind: list(itertools.accumulate(found.values())) for kind, found in counts.items()}

    def draw(self, kind: str, source: random.Random) -> str:
        """Return a word of a kind that the texts hold."""
        return source.choices(self._words[kind], cum_weights=self._totals[kind])[0]


def changed(words: Words, kinds: Words, pools: WordPools, rule: ChangeRule, source: random.Random) -> Words:
    """Return one changed copy of a text.

    Args:
        words: of the text.
        kinds: of these words.
        pools: words of the same kinds.
        rule: how often what is done.
        source: of all that is drawn.

    Returns:
        The words of the copy, which may be those of the text.
    """
    copy = []
    for word, kind in zip(words, kinds, strict=True):
        drawn = source.random()
        if drawn < rule.mask:
            copy.append(MASK)
        elif drawn < rule.mask + rule.swap:
            copy.append(pools.draw(kind, source))
        else:
            copy.append(word)
    if copy and source.random() < rule.ngram:
        length = min(source.randint(1, _LONGEST_RUN), len(copy))
        start = source.randint(0, len(copy) - length)
        copy = copy[start : start + length]
    return tuple(copy)


def copies(
    sides: Sequence[Words], kinds: Sequence[Words], pools: WordPools, rule: ChangeRule, source: random.Random
) -> Iterator[tuple[Words, ...]]:
    """Give changed copies of a text, or of a pair, without end; of a pair the first text, the second and both in turn.

    Args:
        sides: the words of each text of the example.
        kinds: of these words.
        pools: words of the same kinds.
        rule: how often what is done.
        source: of all that is drawn.

    Yields:
        The words of each text of a copy.
    """
    for number in itertools.count():
        parts = [True] * len(sides) if len(sides) == 1 else [number % 3 != 1, number % 3 != 0]
        yield tuple(
            changed(words, own, pools, rule, source) if part else words
            for words, own, part in zip(sides, kinds, parts, strict=True)
        )
