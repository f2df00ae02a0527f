"""The class of a text or a pair: the most probable one, or the one that is expected to cost least."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.model.answers import Answer, Read, ShownAnswer
from heedful.model.decisions.decision import Decision, Logits, Shares, softmax
from heedful.model.decisions.reject import Reject, doubts


@dataclass(frozen=True, eq=False)
class ClassDecision(Decision[Answer]):
    """One class of several.

    Attributes:
        temperature: what logits are divided by before the softmax.
        costs: what it costs to answer class k where class j is right, at row j and column k, [Y, Y]; None where the
            most probable class is answered.
        reject: when none of the classes is answered; None where one always is.
    """

    temperature: float = 1.0
    costs: Shares | None = None
    reject: Reject | None = None

    def probabilities(self, logits: Logits) -> Shares:
        """Return the softmax of logits [N, Y] at the temperature; see `Decision.probabilities`."""
        return softmax(logits.astype(np.float64) / self.temperature)

    def chosen(self, shares: Shares) -> NDArray[np.int64]:
        """Return the number of the class that is answered, [N], for probabilities [N, Y]."""
        if self.costs is not None:
            return cheapest(shares, self.costs)
        found: NDArray[np.int64] = shares.argmax(axis=1)
        return found

    def answers(self, logits: Logits, read: Sequence[Read]) -> Iterator[Answer]:
        """See `Decision.answers`."""
        shares = self.probabilities(logits)
        for own, best, how in zip(shares, self.chosen(shares).tolist(), read, strict=True):
            named = dict(zip(self.names, own.tolist(), strict=True))
            yield Answer(self.names[best], named, None, **vars(how))

    def judged(
        self, answers: Sequence[Answer], logits: Any, unlike: Callable[[], Shares]
    ) -> Sequence[Answer]:
        """See `Decision.judged`."""
        if self.reject is None:
            return answers
        return self.reject.applied(answers, self.signals(logits, unlike()))

    def signals(self, logits: Logits, unlike: Shares) -> Shares:
        """Return what `Reject` looks at, [N, 4], for logits [N, Y], and distance and new words [N, 2]."""
        return np.concatenate([doubts(logits, self.temperature), unlike], axis=1)

    def shown(self, logits: Logits) -> ShownAnswer:
        """See `Decision.shown`."""
        shares = self.probabilities(logits[None])
        answered = None if self.costs is None else int(self.chosen(shares)[0])
        return ShownAnswer(
            self.names, tuple(shares[0].tolist()), answered=answered, temperature=self.temperature
        )


def cheapest(shares: Shares, costs: Shares) -> NDArray[np.int64]:
    """Return the class of least expected cost, ``argmin_k sum_j shares[j] * costs[j, k]``; of equals the first.

    Args:
        shares: probabilities of the classes, [N, Y].
        costs: of answering class k where class j is right, at row j and column k, [Y, Y].

    Returns:
        Numbers of classes, [N]; none depends on the other rows.
    """
    expected = np.zeros_like(shares)
    for column, row in zip(
        shares.T, costs, strict=True
    ):  # a product of matrices may round by the number of rows
        expected += column[:, None] * row
    found: NDArray[np.int64] = expected.argmin(axis=1)
    return found
