"""The parts of a model beside its network: linear models whose logits are added to the network's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heedful.runtime.kernels import Floats
from heedful.runtime.sentence_part import SentencePart
from heedful.runtime.tag_part import TagPart
from heedful.text.wide_part import WidePart


@dataclass(frozen=True, eq=False)
class Parts:
    """What is added to a network's logits.

    Attributes:
        wide: a linear model over words, pairs of neighbors and runs of characters; None for none.
        sentence: a linear model over frozen features of the text; None for none.
        tagging: of a model of tags, a linear model over each word and its neighbors with a chain of tags on top, whose
            scores `added` leaves alone; None for none.
    """

    wide: WidePart | None = None
    sentence: SentencePart | None = None
    tagging: TagPart | None = None

    def knows(self, word: str) -> bool:
        """Say whether a part has a vector of a word; runs of characters, which any word has, are no knowledge."""
        if self.sentence is not None and self.sentence.features.texts.knows(word):
            return True
        vectors = None if self.tagging is None else self.tagging.vectors
        return vectors is not None and vectors.rows.knows(word)

    def added(self, logits: Floats, sides: Sequence[Sequence[str]]) -> Floats:
        """Return the logits of an example with those of the parts.

        Args:
            logits: of the network, [Y].
            sides: the words of each text of the example.

        Returns:
            ``network + (wide + sentence)``, [Y] float32, added in this order with torch and without.
        """
        found: list[Floats] = []
        if self.wide is not None:
            features = [self.wide.rule.numbers(words, side) for side, words in enumerate(sides)]
            found.append(self.wide.logits([np.unique(np.concatenate(features))])[0])
        if self.sentence is not None:
            found.append(self.sentence.of_words([sides])[0])
        if not found:
            return logits
        total: Floats = logits + sum(found[1:], found[0])
        return total


NO_PARTS = Parts()
