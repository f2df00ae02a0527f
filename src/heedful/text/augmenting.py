"""Changed copies of a text, for a teacher to answer: masked words, swapped words, runs of words, exchanged phrases.

The first three rules are those of Tang et al. (2019), "Distilling Task-Specific Knowledge from BERT into Simple Neural
Networks"; the last one follows the dependency tree (`heedful.text.phrases`).
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heedful.text.phrases import PhrasePools, Subtree
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
        phrases: probability that instead of all this phrases are exchanged.
    """

    mask: float
    swap: float
    ngram: float
    phrases: float = 0.0


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


class Copier:
    """Makes changed copies of texts.

    Args:
        texts: the words of each text.
        kinds: the kind of each of these words.
        rule: how often what is done.
        phrases: of each text; None where nobody knows its tree, and none are exchanged.
    """

    def __init__(
        self,
        texts: Sequence[Words],
        kinds: Sequence[Words],
        rule: ChangeRule,
        phrases: Sequence[Sequence[Subtree]] | None = None,
    ) -> None:
        self._texts, self._kinds, self._rule, self._phrases = texts, kinds, rule, phrases
        self._words = WordPools(texts, kinds)
        self._pools = None if phrases is None else PhrasePools(texts, phrases)

    def copies(self, sides: Sequence[int], source: random.Random) -> Iterator[tuple[Words, ...]]:
        """Give changed copies of a text, or of a pair, without end; of a pair the first, the second and both in turn.

        Args:
            sides: the places of the texts of the example among those of the copier.
            source: of all that is drawn.

        Yields:
            The words of each text of a copy.
        """
        for number in itertools.count():
            parts = [True] * len(sides) if len(sides) == 1 else [number % 3 != 1, number % 3 != 0]
            yield tuple(
                self._changed(place, source) if part else self._texts[place]
                for place, part in zip(sides, parts, strict=True)
            )

    def _changed(self, place: int, source: random.Random) -> Words:
        words, rule = self._texts[place], self._rule
        if self._pools is not None and self._phrases is not None and source.random() < rule.phrases:
            return self._pools.exchanged(words, self._phrases[place], source)
        return changed(words, self._kinds[place], self._words, rule, source)
