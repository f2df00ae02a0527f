"""What turns the numbers that a network gives into the answers of a task; the same with torch and without it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtifactError
from heedful.model.answers import ShownAnswer

Logits = NDArray[np.float32]
Shares = NDArray[np.float64]
A_co = TypeVar("A_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Decision(ABC, Generic[A_co]):
    """How the logits of a model become answers.

    Attributes:
        names: what the logits stand for: class names, labels, or the grades "1", "2" and so on; empty for a number.
    """

    names: tuple[str, ...]

    @abstractmethod
    def probabilities(self, logits: Logits) -> Shares:
        """Return the probability of each name.

        Args:
            logits: [N, Y].

        Returns:
            [N, Y]; for labels each by itself, for numbers without columns, else rows that sum to 1.
        """

    @abstractmethod
    def answers(self, logits: Any, read: Sequence[Any]) -> Iterator[A_co]:
        """Answer requests.

        Args:
            logits: what the network gave, [N, Y]; of tags [L, Y] for each text.
            read: how each request was read, a `Read`; of tags a `ReadWords`.

        Yields:
            The answers.
        """

    def judged(self, answers: Sequence[Any], logits: Any, unlike: Callable[[], Shares]) -> Sequence[Any]:
        """Return answers as they are given when it is known how unlike all training texts their texts are.

        Args:
            answers: from `answers`.
            logits: see `answers`.
            unlike: computes, where it is needed, distance and new words of the texts, [N, 2].

        Returns:
            The answers; by default as they are.
        """
        return answers

    @abstractmethod
    def shown(self, logits: Logits) -> ShownAnswer:
        """Return the answer that logits [Y] stand for, as an explanation shows it."""


def softmax(logits: Shares) -> Shares:
    """Return ``exp(x_k) / sum_j exp(x_j)`` over the last axis of float64 numbers; no row depends on the others."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: Shares = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def finite(what: str, rows: Logits) -> Logits:
    """Refuse rows of what a network gives that are no numbers: weights of a folder may be finite and yet too large.

    Args:
        what: the rows are, for the message.
        rows: one or more numbers a text, [N, ...].

    Returns:
        The rows.

    Raises:
        ArtifactError: naming the first text, counted from 1.
    """
    good = np.isfinite(rows.reshape(len(rows), rows[:1].size)).all(axis=1)
    if not good.all():
        raise _not_finite(what, int(good.argmin()) + 1)
    return rows


def finite_row(what: str, row: Logits, number: int) -> Logits:
    """Return what a network gave of one text; ``what`` and ``number`` are for the message; see `finite`."""
    if not np.isfinite(row).all():
        raise _not_finite(what, number)
    return row


def _not_finite(what: str, number: int) -> ArtifactError:
    return ArtifactError(
        f"text {number:,}: the {what} holds numbers that are not finite, so the weights are of no use. Copy the model "
        "again from its source, or train it again."
    )
