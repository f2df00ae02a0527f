"""The words and phrases of many explained rows, added up within a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from heedful.data.examples import Example
from heedful.errors import HeedfulError
from heedful.explain import Explanation
from heedful.explain.word_sums import WordSum, WordSums
from heedful.run.important_words import TimeLeft


class SummedRows:
    """Explains rows in a random order, drawn with a fixed seed, until the time is over, and adds up their words.

    Args:
        examples: the rows.
        explain: explains the answer to one.
        seconds: after which no further row is explained.

    Attributes:
        sums: what was added up.
    """

    def __init__(
        self, examples: Sequence[Example], explain: Callable[[Example], Explanation], seconds: float
    ) -> None:
        self.sums, self._places, time_left = WordSums(), list[int](), TimeLeft(seconds)
        for place in random.Random(0).sample(range(len(examples)), len(examples)):
            try:
                explanation = explain(examples[place])
            except HeedfulError:  # too long a text, say
                continue
            self.sums.add(explanation)
            self._places.append(place)
            if time_left.is_over:
                break

    def top(self, label: str, count: int) -> tuple[WordSum, ...]:
        """Return the words that speak most for a class; their texts are places among the examples."""
        return tuple(
            replace(word, texts=tuple((value, self._places[text]) for value, text in word.texts))
            for word in self.sums.top(label, count)
        )
