"""Phrases of a sentence by its dependency tree, and copies of it that have phrases of other sentences in their places.

What stands in the place of a phrase has the same relation to the rest, so that most copies read like sentences of the
same source: "What is the capital of Peru" and "Who wrote the hymn" give "What is the hymn".
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

Words = tuple[str, ...]
Kind = tuple[str, int, str]
_RARER = 50
_MOST_EXCHANGED = 3
_OF_FUNCTION = frozenset(
    {"", "root", "punct", "det", "case", "aux", "cop", "mark", "cc", "expl", "fixed", "flat"}
)
"""Relations whose words say how others relate; exchanged by themselves they change nothing, or break the sentence."""


class Subtree(NamedTuple):
    """A word with everything that depends on it, where that stands together.

    Attributes:
        start: place of its first word, from 0.
        stop: place behind its last word.
        kind: the relation of the word to its head; how long the phrase is, 1 word, 2 to 3, 4 to 7, and so on; and its
            first word if that is a common one, such as "of".
    """

    start: int
    stop: int
    kind: Kind


def common_words(texts: Sequence[Words]) -> frozenset[str]:
    """Return the words that one in fifty texts holds: words of function, and those that every text here is about."""
    counts = Counter(word for words in texts for word in set(words))
    return frozenset(word for word, count in counts.items() if count * _RARER >= len(texts))


def phrases_of(
    words: Words, heads: Sequence[int], relations: Sequence[str], common: frozenset[str]
) -> tuple[Subtree, ...]:
    """Return the phrases of a sentence that others can replace.

    Args:
        words: of the sentence.
        heads: head of each word: its place from 1, 0 for a root, -1 where unknown.
        relations: of each word to its head.
        common: see `common_words`.

    Returns:
        In the order of their heads; none is the whole sentence or one common word, and none has a gap.
    """
    found = list[Subtree]()
    for below, relation in zip(_below(heads), relations, strict=True):
        start, stop = min(below), max(below) + 1
        plain, first = relation.partition(":")[0].lower(), words[start] if words[start] in common else ""
        alone = len(below) == 1 and bool(first)
        if plain not in _OF_FUNCTION and stop - start == len(below) < len(heads) and not alone:
            found.append(Subtree(start, stop, (plain, len(below).bit_length(), first)))
    return tuple(found)


def _below(heads: Sequence[int]) -> list[set[int]]:
    """Return for each word its place and those of the words below it in the tree."""
    below: list[set[int]] = [{place} for place in range(len(heads))]
    for place in range(len(heads)):
        head, seen = heads[place] - 1, {place}
        while head >= 0 and head not in seen:  # up to the root
            below[head].add(place)
            seen.add(head)
            head = heads[head] - 1
    return below


class PhrasePools:
    """The phrases of each kind, drawn as often as the texts hold them.

    Args:
        texts: the words of each text.
        phrases: those of each text.
    """

    def __init__(self, texts: Sequence[Words], phrases: Sequence[Sequence[Subtree]]) -> None:
        self._words: dict[Kind, list[Words]] = {}
        for words, own in zip(texts, phrases, strict=True):
            for phrase in own:
                self._words.setdefault(phrase.kind, []).append(words[phrase.start : phrase.stop])

    def exchanged(self, words: Words, phrases: Sequence[Subtree], source: random.Random) -> Words:
        """Return a copy of a text with 1 to 3 phrases of other texts in the places of its own.

        Args:
            words: of the text, which is among those of the pools.
            phrases: of the text.
            source: of all that is drawn.

        Returns:
            The words of the copy; those of the text where it has no phrases, or the same ones are drawn.
        """
        wanted = source.randint(1, _MOST_EXCHANGED)
        chosen = list[Subtree]()
        able = [phrase for phrase in phrases if len(self._words[phrase.kind]) > 1]
        for phrase in source.sample(able, len(able)):
            if all(phrase.stop <= other.start or phrase.start >= other.stop for other in chosen):
                chosen.append(phrase)
            if len(chosen) == wanted:
                break
        copy = list(words)
        for phrase in sorted(chosen, reverse=True):  # from the end, so that places stay right
            copy[phrase.start : phrase.stop] = source.choice(self._words[phrase.kind])
        return tuple(copy)
