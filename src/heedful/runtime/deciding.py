"""From the numbers that a network gives to the answer of a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heedful.runtime.answers import Answer, LabelsAnswer, Read, Shown
from heedful.runtime.kernels import Floats

Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decision:
    """How the logits of a model become answers.

    Attributes:
        task: one of `heedful.runtime.answers.LAYOUTS`.
        names: what the logits stand for: class names, labels, or the grades "1", "2" and so on; empty for a number.
        temperature: what logits are divided by before the softmax.
        thresholds: for labels the probability from which each is answered, [Y]; else None.
        costs: of classes what it costs to answer class k where class j is right, at row j and column k, [Y, Y]; None
            where the most probable class is answered.
        numbers: for numbers the least and the greatest of the training examples; else (0, 0).
    """

    task: str
    names: tuple[str, ...]
    temperature: float = 1.0
    thresholds: Shares | None = None
    numbers: tuple[float, float] = (0.0, 0.0)
    costs: Shares | None = None

    def probabilities(self, logits: Floats) -> Shares:
        """Return the probability of each name.

        Args:
            logits: [N, Y].

        Returns:
            [N, Y]; for labels each by itself, for numbers without columns, else rows that sum to 1.
        """
        if not self.names:
            return np.zeros((len(logits), 0))
        wide = logits.astype(np.float64)
        if self.thresholds is not None:
            small = np.exp(-np.abs(wide))
            return np.where(wide >= 0, 1.0, small) / (1.0 + small)
        return _softmax(wide / self.temperature)

    def score(self, logits: Floats) -> float | None:
        """Return the number that logits [Y] stand for; None for classes and labels."""
        if self.task == "relatedness":
            return float(_softmax(logits.astype(np.float64)) @ np.arange(1, len(self.names) + 1))
        return None if self.names else float(logits[0])

    def best(self, shares: Shares) -> int:
        """Return the number of the class that is answered, for the probabilities of one example, [Y]."""
        return int(shares.argmax() if self.costs is None else cheapest(shares[None], self.costs)[0])

    def answers(self, logits: Floats, read: Sequence[Read]) -> Iterator[Answer | LabelsAnswer]:
        """Answer requests.

        Args:
            logits: what the network gave, [N, Y].
            read: how each request was read.

        Yields:
            The answers.
        """
        shares = self.probabilities(logits)
        for row, own, how in zip(logits, shares, read, strict=True):
            named = dict(zip(self.names, own.tolist(), strict=True))
            if self.thresholds is not None:
                chosen = [place for place in np.argsort(-own) if own[place] >= self.thresholds[place]]
                yield LabelsAnswer(tuple(self.names[place] for place in chosen), named, **vars(how))
                continue
            score = self.score(row)
            label = None if score is not None else self.names[self.best(own)]
            yield Answer(label, named, score, **vars(how))

    def shown(self, logits: Floats) -> Shown:
        """Return the answer that logits [Y] stand for, as an explanation shows it."""
        shares, score = tuple(self.probabilities(logits[None])[0].tolist()), self.score(logits)
        if score is None:
            answered = None if self.costs is None else self.best(np.array(shares))
            kind: Literal["class", "label"] = "class" if self.thresholds is None else "label"
            return Shown(self.names, shares, answered=answered, kind=kind, temperature=self.temperature)
        low, high = (1.0, float(len(self.names))) if self.names else self.numbers
        ends = (low, high) if self.names else (min(low, score), max(high, score))
        if not self.names:
            return Shown((), (), score, ends, deletable=False, kind="number")
        return Shown(self.names, shares, score, ends, deletable=False, kind="grade")


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


def _softmax(logits: Shares) -> Shares:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: Shares = weights / weights.sum(axis=-1, keepdims=True)
    return shares
