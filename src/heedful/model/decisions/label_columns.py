"""Several label columns: each of them has one class, whose probabilities sum to 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heedful.model.answers import LabelsAnswer, Read, ShownAnswer
from heedful.model.decisions.decision import Decision, Logits, Shares, softmax

BETWEEN = ": "
"""What stands between the name of a label column and that of its class."""


def label_of(column: str, value: str) -> str:
    """Return the name of a class of a label column, such as "mood: glad"."""
    return f"{column}{BETWEEN}{value}"


def column_of(label: str) -> str:
    """Return the label column of a name that `label_of` made."""
    return label.partition(BETWEEN)[0]


def column_places(labels: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Return for each label column the places of its classes, in the order in which the columns come first."""
    found: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        found.setdefault(column_of(label), []).append(place)
    return {column: np.array(places, np.int64) for column, places in found.items()}


@dataclass(frozen=True, eq=False)
class LabelColumnsDecision(Decision[LabelsAnswer]):
    """One class for each label column; `Decision.names` are those that `label_of` makes."""

    @cached_property
    def places(self) -> dict[str, NDArray[np.int64]]:
        """For each label column the places of its classes."""
        return column_places(self.names)

    def probabilities(self, logits: Logits) -> Shares:
        """Return the softmax over the classes of each column, [N, Y]; see `Decision.probabilities`."""
        shares = np.zeros(logits.shape, np.float64)
        for places in self.places.values():
            shares[:, places] = softmax(logits[:, places].astype(np.float64))
        return shares

    def chosen(self, logits: Logits) -> NDArray[np.bool_]:
        """Return which classes are answered, one of each column, [N, Y]."""
        found = np.zeros(logits.shape, bool)
        for places in self.places.values():
            found[np.arange(len(logits)), places[logits[:, places].argmax(axis=1)]] = True
        return found

    def answers(self, logits: Logits, read: Sequence[Read]) -> Iterator[LabelsAnswer]:
        """See `Decision.answers`; the columns are in their order."""
        for own, flags, how in zip(self.probabilities(logits), self.chosen(logits), read, strict=True):
            named = dict(zip(self.names, own.tolist(), strict=True))
            yield LabelsAnswer(
                tuple(self.names[place] for place in np.flatnonzero(flags)), named, **vars(how)
            )

    def shown(self, logits: Logits) -> ShownAnswer:
        """See `Decision.shown`: the surest of the columns is the answer that is explained first."""
        own, flags = self.probabilities(logits[None])[0], self.chosen(logits[None])[0]
        chosen = sorted(np.flatnonzero(flags).tolist(), key=lambda place: -own[place])
        rivals = tuple(tuple(self.places[column_of(name)].tolist()) for name in self.names)
        return ShownAnswer(self.names, tuple(own.tolist()), chosen=tuple(chosen), rivals=rivals)
