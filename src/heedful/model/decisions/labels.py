"""Several labels for a text, or none: each by its own probability and threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from heedful.model.answers import LabelsAnswer, Read, ShownAnswer
from heedful.model.decisions.decision import Decision, Logits, Shares


@dataclass(frozen=True, eq=False)
class LabelsDecision(Decision[LabelsAnswer]):
    """Any number of labels.

    Attributes:
        thresholds: the probability from which each label is answered, [Y].
    """

    thresholds: Shares = field(default_factory=lambda: np.zeros(0))

    def probabilities(self, logits: Logits) -> Shares:
        """Return the sigmoid of logits [N, Y]; see `Decision.probabilities`."""
        wide = logits.astype(np.float64)
        small = np.exp(-np.abs(wide))
        shares: Shares = np.where(wide >= 0, 1.0, small) / (1.0 + small)
        return shares

    def chosen(self, logits: Logits) -> NDArray[np.bool_]:
        """Return which labels are answered, [N, Y], for logits [N, Y]."""
        found: NDArray[np.bool_] = self.probabilities(logits) >= self.thresholds
        return found

    def answers(self, logits: Logits, read: Sequence[Read]) -> Iterator[LabelsAnswer]:
        """See `Decision.answers`; the likeliest label comes first."""
        for own, how in zip(self.probabilities(logits), read, strict=True):
            chosen = self._ordered(own)
            named = dict(zip(self.names, own.tolist(), strict=True))
            yield LabelsAnswer(tuple(self.names[place] for place in chosen), named, **vars(how))

    def shown(self, logits: Logits) -> ShownAnswer:
        """See `Decision.shown`."""
        (own,) = self.probabilities(logits[None])
        return ShownAnswer(self.names, tuple(own.tolist()), chosen=tuple(self._ordered(own)), kind="label")

    def _ordered(self, own: Shares) -> list[int]:
        """Return the labels that reach their thresholds, the likeliest first, for probabilities [Y]."""
        return [place for place in np.argsort(-own).tolist() if own[place] >= self.thresholds[place]]
