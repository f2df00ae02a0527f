"""The parts of a model beside its network: linear models whose logits are added to the network's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heedful.features.feature_columns import Row
from heedful.runtime.column_part import ColumnPart
from heedful.runtime.kernels import Floats
from heedful.runtime.sentence_part import SentencePart
from heedful.runtime.tag_part import TagPart
from heedful.runtime.training_texts import Familiar
from heedful.text.wide_part import WidePart, ascending


@dataclass(frozen=True, eq=False)
class ModelParts:
    """What is added to a network's logits.

    Attributes:
        wide: a linear model over words, pairs of neighbors and runs of characters; None for none.
        sentence: a linear model over frozen features of the text; None for none.
        tagging: of a model of tags, a linear model over each word and its neighbors with a chain of tags on top, whose
            scores `added` leaves alone; None for none.
        familiar: what training texts were like; None for a model that always answers.
        columns: a linear model over columns beside the text; None for none.
        row: what the columns of one example say, if the parts are `about` it.
    """

    wide: WidePart | None = None
    sentence: SentencePart | None = None
    tagging: TagPart | None = None
    familiar: Familiar | None = None

    def unlike(self, examples: Sequence[Sequence[Sequence[str]]]) -> NDArray[np.float64]:
        """Return distance from training texts and share of new words of examples, [N, 2]."""
        assert self.familiar is not None  # a model that rejects keeps it
        return self.familiar.of(examples)

    columns: ColumnPart | None = None
    row: Row = ()

    def about(self, row: Row) -> ModelParts:
        """Return the parts for one example, whose columns stay as they are whatever its words."""
        return self if self.columns is None else replace(self, row=row)

    def knows(self, word: str) -> bool:
        """Return whether a part has a vector of a word; runs of characters, which any word has, are no knowledge."""
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
            ``network + (wide + sentence + columns)``, [Y] float32, added in this order with torch and without.
        """
        return self.added_to_all([logits], [sides])[0]

    def added_to_all(
        self, logits: Sequence[Floats], examples: Sequence[Sequence[Sequence[str]]]
    ) -> Sequence[Floats]:
        """Do the same for several examples, which a sentence encoder reads together; no row depends on the others."""
        found: list[Sequence[Floats]] = []
        if self.wide is not None:
            found.append([self._wide_of(self.wide, sides) for sides in examples])
        if self.sentence is not None:
            found.append(list(self.sentence.of_words(examples)))
        if self.columns is not None:
            (beside,) = self.columns.logits([self.row])
            found.append([beside] * len(examples))
        if not found:
            return logits
        return [row + sum(added[1:], added[0]) for row, *added in zip(logits, *found, strict=True)]

    def added_to_words(self, logits: Floats, words: Sequence[str]) -> Floats:
        """Return the logits of the words of a text, [L, Y], with what the linear part of tags adds to them."""
        part = self.tagging
        return logits if part is None or len(logits) != len(words) else logits + part.emissions(words)

    @staticmethod
    def _wide_of(wide: WidePart, sides: Sequence[Sequence[str]]) -> Floats:
        features = [wide.rule.numbers(words, side) for side, words in enumerate(sides)]
        return wide.logits([ascending(features)])[0]


NO_PARTS = ModelParts()
