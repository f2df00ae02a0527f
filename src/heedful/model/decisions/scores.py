"""Answers that are a number: the expected grade of a softmax over grades, or the logit itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from heedful.model.answers import Answer, Read, ShownAnswer
from heedful.model.decisions.decision import Decision, Logits, Shares, softmax


class ScoreDecision(Decision[Answer]):
    """A number, whatever its scale."""

    @abstractmethod
    def scores(self, logits: Logits) -> Shares:
        """Return the numbers, [N], that logits [N, Y] stand for."""


@dataclass(frozen=True, eq=False)
class GradeDecision(ScoreDecision):
    """A grade from 1 to the number of names, and anything between: ``sum_k k softmax(x)_k``."""

    def probabilities(self, logits: Logits) -> Shares:
        """Return the probability of each grade, the softmax of logits [N, K]; see `Decision.probabilities`."""
        return softmax(logits.astype(np.float64))

    def scores(self, logits: Logits) -> Shares:
        """Return the expected grade, [N], of logits [N, K]."""
        grades = np.arange(1, len(self.names) + 1)
        return np.array([row @ grades for row in self.probabilities(logits)], np.float64)

    def answers(self, logits: Logits, read: Sequence[Read]) -> Iterator[Answer]:
        """See `Decision.answers`."""
        found = zip(self.probabilities(logits), self.scores(logits).tolist(), read, strict=True)
        for own, score, how in found:
            yield Answer(None, dict(zip(self.names, own.tolist(), strict=True)), score, **vars(how))

    def shown(self, logits: Logits) -> ShownAnswer:
        """See `Decision.shown`."""
        shares = tuple(self.probabilities(logits[None])[0].tolist())
        score, ends = float(self.scores(logits[None])[0]), (1.0, float(len(self.names)))
        return ShownAnswer(self.names, shares, score, ends, deletable=False, kind="grade")


@dataclass(frozen=True, eq=False)
class NumberDecision(ScoreDecision):
    """A number of any range.

    Attributes:
        least: of the training numbers; a picture's scale begins there.
        greatest: likewise its end.
    """

    names: tuple[str, ...] = ()
    least: float = 0.0
    greatest: float = 0.0

    def probabilities(self, logits: Logits) -> Shares:
        """Return none, [N, 0]: a number has no names; see `Decision.probabilities`."""
        return np.zeros((len(logits), 0))

    def scores(self, logits: Logits) -> Shares:
        """Return the numbers, [N], which are logits [N, 1] themselves."""
        return logits[:, 0].astype(np.float64)

    def answers(self, logits: Logits, read: Sequence[Read]) -> Iterator[Answer]:
        """See `Decision.answers`."""
        for number, how in zip(self.scores(logits).tolist(), read, strict=True):
            yield Answer(None, {}, number, **vars(how))

    def shown(self, logits: Logits) -> ShownAnswer:
        """See `Decision.shown`; the range is that of the training numbers, with the answer in it."""
        number = float(logits[0])
        ends = (min(self.least, number), max(self.greatest, number))
        return ShownAnswer((), (), number, ends, deletable=False, kind="number")
