"""Answers by the names of labels: the label whose name, and whose first examples, are most like the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from heedful.errors import UsageError
from heedful.model.answers import Answer, Read, ShownAnswer
from heedful.model.decisions.classes import ClassDecision
from heedful.model.decisions.decision import Logits, Shares
from heedful.model.text_reading import listed

_BETWEEN = re.compile(r"[\s_\-./:#]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
Encode = Callable[[Sequence[str]], Logits]
"""Texts to vectors of unit length, [N, D]."""
WITHOUT = (
    "this model turns texts into vectors and has no labels of its own: name two labels or more (--label refund --label "
    "praise, or with_labels([...]) in Python), or ask for the vectors (heedful encode)"
)

NOT_EXPLAINED = (
    "this model turns texts into vectors, and their likeness to the names of labels is not explained; train a model of "
    "labels to have its answers explained"
)


@dataclass(frozen=True)
class NamedLabels(ClassDecision):
    """Turns the vector of a text into an answer, once there are names; see `ClassDecision` for the other attributes.

    Attributes:
        rows: a vector of unit length for each name, [Y, D]. The probabilities are the softmax of the cosines with the
            text's vector over the temperature.
    """

    rows: Logits = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        examples: Sequence[tuple[str, str]],
        encode: Encode,
        temperature: float,
    ) -> Self:
        """Encode the names, and refine them with examples.

        The vector of a label is the mean of that of its name and those of its examples, each counted alike, so that
        a few examples soon outweigh a name that says little.

        Args:
            names: of the labels, two or more, each once.
            examples: texts with their labels; may be empty.
            encode: of the model.
            temperature: what the cosines are divided by.

        Returns:
            What decides.

        Raises:
            UsageError: if there are fewer than two names, one is empty or there twice, or an example has another label.
        """
        names = list(listed(names, "labels"))
        if len(names) < 2:
            raise UsageError(
                f"labels: expected two names or more, each with its own --label, or in a list; got {names!r:.80}"
            )
        for place, name in enumerate(names):
            if not isinstance(name, str):
                raise UsageError(f"labels: expected the names as texts, got {name!r:.80}")
            if not name.strip():
                raise UsageError(
                    "labels: a name is empty; every label needs a name, since its meaning decides"
                )
            if name_as_text(name).lower() in (name_as_text(other).lower() for other in names[:place]):
                raise UsageError(f"labels: {name!r:.80} is there twice; case and signs do not count")
        place_of = {name: place for place, name in enumerate(names)}
        examples = list(listed(examples, "examples"))
        for example in examples:
            if not isinstance(example, list | tuple) or len(example) != 2:
                raise UsageError(f"examples: expected pairs of a text and its label; got {example!r:.80}")
            text, label = example
            if label not in names:
                raise UsageError(
                    f"examples: {text!r:.40} has the label {label!r:.80}, which is not one of the names"
                )
        rows = encode([*(name_as_text(name) for name in names), *(text for text, _ in examples)]).astype(
            np.float64
        )
        total = rows[: len(names)].copy()
        for row, (_, label) in zip(rows[len(names) :], examples, strict=True):
            total[place_of[label]] += row
        lengths = np.maximum(np.sqrt(np.square(total).sum(axis=1, keepdims=True)), 1e-12)
        return cls(tuple(names), temperature, rows=(total / lengths).astype(np.float32))

    def answers(self, logits: Logits, read: Sequence[Read]) -> Iterator[Answer]:
        """Answer requests; see `Decision.answers`.

        Raises UsageError where there are no names.
        """
        self._refuse_without_names()
        yield from super().answers(logits, read)

    def shown(self, logits: Logits) -> ShownAnswer:
        """Refuse: what a word adds to a cosine with the names of labels is not computed.

        Raises UsageError.
        """
        raise UsageError(NOT_EXPLAINED)

    def _refuse_without_names(self) -> None:
        if not self.names:
            raise UsageError(WITHOUT)

    def probabilities(self, logits: Logits) -> Shares:
        """Return the probability of each name for vectors of texts, [N, D]; see `Decision.probabilities`.

        A text without words is as like each name as the other.
        """
        # one product a row: a product of matrices may round by the number of rows
        cosines = (
            np.stack([self.rows @ row for row in logits]) if len(logits) else np.zeros((0, len(self.names)))
        )
        return super().probabilities(cosines.astype(np.float32))


def name_as_text(name: str) -> str:
    """Return the name of a label as a text.

    Args:
        name: such as "card_arrival", "AddToPlaylist" or "sci.space".

    Returns:
        Its words with a blank between any two, such as "card arrival"; case is kept.
    """
    return " ".join(part for part in _BETWEEN.split(name) if part)
