"""None of these: the answer to a text that is unlike all training texts.

How unlike a text is, is a weighted sum of signals, each in standard deviations from what known texts have:

- doubt, ``-log`` of the probability of the likeliest class;
- flatness, how little the largest logit stands above their mean, after the temperature;
- distance from the nearest center of training texts, where the model has vectors of sentences that need no torch;
- the share of words that no training text has.

From a threshold on, which leaves the share of known texts that was asked for, the answer is a name of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.model.answers import Answer
from heedful.storage.fields import Fields

SIGNALS = ("doubt", "flatness", "distance", "new words")
REJECT = "reject"
"""Key of config.json."""
STEPS = 200
"""Known texts are kept as so many quantiles of their scores."""
Floats = NDArray[np.float64]


def doubts(logits: NDArray[np.floating], temperature: float) -> Floats:
    """Return doubt and flatness, [N, 2], for logits [N, Y]; no row depends on the others."""
    wide = logits.astype(np.float64) / temperature
    top = wide.max(axis=1)
    doubt = np.log(np.exp(wide - top[:, None]).sum(axis=1))  # of the likeliest class, -log p
    return np.stack([doubt, wide.mean(axis=1) - top], axis=1)


@dataclass(frozen=True, eq=False)
class Reject:
    """When no class is answered.

    Attributes:
        label: what is answered then.
        keep: the share of known texts that keep their class.
        weights: of the signals, 0 or more, [4].
        means: of the signals of known texts, [4].
        deviations: likewise, [4].
        known: scores of known texts, from the least to the greatest, as quantiles; the text is left out whose score is
            above the threshold.
        threshold: the score from which on no class is answered.
        fitted: from which rows, for the model card.

    Raises:
        UsageError: if a number is missing, not finite or out of range.
    """

    label: str
    keep: float
    weights: tuple[float, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    known: tuple[float, ...]
    threshold: float
    fitted: str = ""

    def __post_init__(self) -> None:
        rows = (self.weights, self.means, self.deviations)
        numbers = [*(value for row in rows for value in row), *self.known, self.threshold]
        good = all(len(row) == len(SIGNALS) for row in rows) and len(self.known) > 1
        if not (good and all(map(math.isfinite, numbers)) and 0 < self.keep < 1 and self.label):
            raise UsageError(f"{REJECT}: expected {len(SIGNALS)} finite numbers a row and a share below 1")
        if min(self.deviations) <= 0 or min(self.weights) < 0 or list(self.known) != sorted(self.known):
            raise UsageError(f"{REJECT}: weights, deviations or scores are out of order")

    def scores(self, signals: Floats) -> Floats:
        """Return how unlike all training texts each text is, [N], for signals [N, 4]."""
        apart = (signals - np.array(self.means)) / np.array(self.deviations)
        found: Floats = (apart * np.array(self.weights)).sum(axis=1)
        return found

    def share(self, score: float) -> float:
        """Return the share of known texts that are less unlike than a text of a score; 1 for a text beyond all."""
        return float(np.interp(score, self.known, np.linspace(0, 1, len(self.known))))

    def applied(self, answers: Sequence[Answer], signals: Floats) -> list[Answer]:
        """Return answers with how unlike their texts are, and with the label of none where that is too much.

        Args:
            answers: of the classes.
            signals: of their texts, [N, 4].

        Returns:
            The answers.
        """
        found = list[Answer]()
        for answer, score in zip(answers, self.scores(signals).tolist(), strict=True):
            label = self.label if score > self.threshold else answer.label
            found.append(replace(answer, label=label, unlike=score, unlike_share=self.share(score)))
        return found

    def parts(self, signals: Floats) -> dict[str, float]:
        """Return what each signal of one text, [4], adds to its score."""
        apart = (signals - np.array(self.means)) / np.array(self.deviations) * np.array(self.weights)
        return dict(zip(SIGNALS, apart.tolist(), strict=True))

    def table(self) -> dict[str, object]:
        """Return what config.json says of it, under `REJECT`."""
        lists = {name: list(value) for name, value in vars(self).items() if isinstance(value, tuple)}
        return {**vars(self), **lists}


def read_reject(table: Mapping[str, object], labels: Sequence[str]) -> Reject:
    """Read what `Reject.table` wrote.

    Args:
        table: of config.json.
        labels: the classes.

    Returns:
        The rule.

    Raises:
        UsageError: if it is damaged, or its label is a class.
    """
    fields = Fields(table, "", f"{REJECT}.", UsageError)
    label = fields.text("label")
    if label in labels:
        raise UsageError(f"{REJECT}: the label {label!r:.60} is a class too")
    rows = (fields.numbers(name) for name in ("weights", "means", "deviations", "known"))
    weights, means, deviations, known = (tuple(map(float, row)) for row in rows)
    keep, threshold = float(fields.number("keep")), float(fields.number("threshold"))
    return Reject(label, keep, weights, means, deviations, known, threshold, fields.text("fitted", ""))
