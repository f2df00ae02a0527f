"""Which text comes next: random ones, ones that stand for many others, and ones that the model is uncertain of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from heedful.labeling.pool import Pool
from heedful.labeling.similar_texts import SimilarTexts
from heedful.labeling.typical_texts import TypicalTexts

Why = Literal["random", "typical", "uncertain"]
BEFORE: tuple[Why, ...] = ("random", "typical", "typical", "typical")
"""The turns with few labels: a quarter is random, so that the accuracy of one can be measured."""
AFTER: tuple[Why, ...] = ("random", "uncertain", "typical", "uncertain")
"""The turns with many labels and a model."""
MANY = 150
"""Labels from which on texts are shown that the model is uncertain of. With fewer it knows too little of what it lacks,
and typical texts bring more (docs/lab/labels-needed.md; Hacohen, Dekel, Weinshall, 2022, "Active learning on a budget:
opposite strategies suit high and low budgets")."""

REASONS = ("random", "typical", "uncertain", "doubtful", "search")
"""What a text is shown for."""


class NextText:
    """Chooses the next text.

    Args:
        pool: the texts.

    Attributes:
        similar: how alike texts are.
        typical: texts that stand for others.
        uncertain: keys of texts that the model is uncertain of, the most useful first.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.similar, self.typical = SimilarTexts(pool.texts), TypicalTexts(pool)
        self.uncertain: Sequence[str] = ()
        self._labeled = set[str]()

    def saw(self, key: str) -> None:
        """Take note of a text that was labeled."""
        self._labeled.add(key)
        self.typical.saw(key)

    def choose(self, turn: int, is_free: Callable[[str], bool], *, mixed: bool) -> tuple[int, Why] | None:
        """Choose the next text.

        Args:
            turn: how many texts were chosen before.
            is_free: tells of a key whether nobody has the text yet.
            mixed: whether other texts than random ones are chosen too.

        Returns:
            The place of the text and why it was chosen; None where no text is left.
        """
        turns = AFTER if self.uncertain and len(self._labeled) >= MANY else BEFORE
        why = turns[turn % len(turns)] if mixed else "random"
        place = None
        if why == "uncertain":
            place = next(
                (self._pool.place[k] for k in self.uncertain if k in self._pool.place and is_free(k)), None
            )
        elif why == "typical":
            place = self.typical.choose(is_free)
        if place is not None:
            return place, why
        place = next(self._free(is_free), None)
        return None if place is None else (place, "random")

    def alike(self, texts: Sequence[str], least: float, most: int) -> list[int]:
        """Return the places of texts that are like one, the most similar first.

        Args:
            texts: the text.
            least: the smallest cosine.
            most: how many.

        Returns:
            The places; the text itself is not among them.
        """
        found = self.similar.to(texts)
        order = np.argsort(-found, kind="stable")[: most + 1]
        return [int(k) for k in order if found[k] >= least and self._pool.texts[k] != tuple(texts)][:most]

    def _free(self, is_free: Callable[[str], bool]) -> Iterator[int]:
        """Yield the free places in the random order."""
        return (k for k in self._pool.order if is_free(self._pool.keys[k]))
