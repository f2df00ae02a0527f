"""The number of an answer that is explained, as a function of the model's logits. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError, check_known
from heedful.model.answers import ShownAnswer, ShownTree
from heedful.text.characters import visible

Values = NDArray[np.float64]
_STEPS = 64


@dataclass(frozen=True)
class ExplainedValue:
    """What contributions add up to.

    Of a class it is the log-odds ``log(p / (1 - p))`` of its probability, the temperature included, and of a parent of
    classes those of the sum of their probabilities; of one of several labels likewise, each by itself; of grades the
    expected grade; else the number itself.

    Attributes:
        kind: see `ShownAnswer.kind`.
        column: of the logits, the class, label or number.
        label: its name; empty for grades and numbers.
        temperature: what logits are divided by before the softmax.
        quantity: what a number is called; empty where that is not known.
        rivals: of label columns the numbers of the classes of its column; empty where all classes are rivals.
        below: of a parent the numbers of the classes that it has; empty for a class.
    """

    kind: str
    column: int = 0
    label: str = ""
    temperature: float = 1.0
    quantity: str = ""
    rivals: tuple[int, ...] = ()
    below: tuple[int, ...] = ()

    @classmethod
    def of_answer(cls, shown: ShownAnswer, label: str | None = None) -> ExplainedValue:
        """Return what is explained of an answer.

        Args:
            shown: the answer.
            label: another class or parent than the one that is answered; None for that.

        Returns:
            The value.

        Raises:
            UsageError: if there is no such class, the answer is a number, or the parent has all classes.
        """
        if shown.score is not None:
            if label is not None:
                check_known(label, (), "a model of numbers has no classes")
            return cls(shown.kind, quantity=shown.quantity)
        parents = {} if shown.tree is None else shown.tree.parents
        if label is not None:
            check_known(label, (*shown.labels, *parents), f"there is no class {label!r:.80}")
        elif shown.tree is not None:
            label = _answered(shown, shown.tree)
        if label is not None and label in parents:
            below = tuple(parents[label])
            if len(below) == len(shown.labels):
                raise UsageError(
                    f"the parent {label!r:.80} has every class of this model, so that its probability is always 1 and "
                    "no word changes it; ask why it is one of the classes or parents below it"
                )
            return cls(shown.kind, label=label, temperature=shown.temperature, below=below)
        column = shown.best if label is None else shown.labels.index(label)
        rivals = shown.rivals[column] if shown.rivals else ()
        return cls(shown.kind, column, shown.labels[column], shown.temperature, rivals=rivals)

    @property
    def is_log_odds(self) -> bool:
        """Whether it is the log-odds of a probability."""
        return self.kind in ("class", "label")

    @property
    def of(self) -> str:
        """What the number is, as a noun phrase."""
        return f"the log-odds of “{visible(self.label)}”" if self.is_log_odds else self.shown_as

    @property
    def shown_as(self) -> str:
        """What the answer shows of it, as a noun phrase."""
        if self.is_log_odds:
            return f"the probability of “{visible(self.label)}”"
        return f"the predicted “{visible(self.quantity)}”" if self.quantity else "the predicted number"

    def value(self, logits: Values) -> Values:
        """Return the number for logits [N, Y], [N]."""
        wide = np.asarray(logits, np.float64) / self.temperature
        if self.kind == "class":
            return _log_sum(wide[:, self.own]) - _log_sum(wide[:, self.others(wide.shape[1])])
        if self.kind == "grade":
            return _softmax(wide) @ np.arange(1.0, wide.shape[1] + 1)
        return wide[:, self.column]

    def shown(self, logits: Values) -> Values:
        """Return what the answer shows, the probability or the number itself, for logits [N, Y], [N]."""
        values = self.value(logits)
        return probability(values) if self.is_log_odds else values

    def gradient(self, logits: Values) -> Values:
        """Return how the number changes with each of the logits [N, Y], [N, Y]."""
        wide = np.asarray(logits, np.float64) / self.temperature
        made = np.zeros_like(wide)
        made[:, self.own] = _softmax(wide[:, self.own])
        if self.kind == "class":
            others = self.others(wide.shape[1])
            made[:, others] = -_softmax(wide[:, others])
        elif self.kind == "grade":
            shares, grades = _softmax(wide), np.arange(1.0, wide.shape[1] + 1)
            made = shares * (grades - (shares @ grades)[:, None])
        return made / self.temperature

    @property
    def own(self) -> list[int]:
        """The numbers of the logits whose shares it adds up: those of the classes of a parent, else its own."""
        return list(self.below or (self.column,))

    def others(self, outputs: int) -> list[int]:
        """Return the numbers of the classes that share the probability with it, of so many."""
        own, rivals = set(self.own), self.rivals or range(outputs)
        return [place for place in rivals if place not in own]

    def mean_gradient(self, start: Values, end: Values) -> Values:
        """Return the gradient averaged over the straight line between two rows of logits, [Y].

        With it any shares of ``end - start`` among words become shares of the change of the number (Aumann and
        Shapley, 1974); for two classes, labels and numbers it is the same everywhere.
        """
        steps = (np.arange(_STEPS) + 0.5)[:, None] / _STEPS
        mean: Values = self.gradient(start + steps * (end - start)).mean(axis=0)
        return mean

    def named(self, label: str) -> ExplainedValue:
        """Return the same under another name: of tags the tag and its word."""
        return replace(self, label=label)


def _answered(shown: ShownAnswer, tree: ShownTree) -> str:
    """Return the node that is answered; the likeliest leaf where that is the parent of all, which nothing changes."""
    if len(tree.parents.get(tree.answered, ())) < len(shown.labels):
        return tree.answered
    shares = dict(zip(shown.labels, shown.probabilities, strict=True))
    return max((name for name in shown.labels if name not in tree.parents), key=shares.__getitem__)


def probability(log_odds: Values | float) -> Values:
    """Return the probabilities that log-odds stand for."""
    small = np.exp(-np.abs(log_odds))
    made: Values = np.where(np.asarray(log_odds) >= 0, 1.0, small) / (1.0 + small)
    return made


def _softmax(logits: Values) -> Values:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    shares: Values = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def _log_sum(logits: Values) -> Values:
    top = logits.max(axis=-1, keepdims=True)
    made: Values = top[:, 0] + np.log(np.exp(logits - top).sum(axis=-1))
    return made
