"""The record of what each word contributes to an answer, by one method. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.characters import visible

Array = NDArray[Any]
_SIGN = "A number above 0 speaks for the prediction, a number below 0 against it."


@dataclass(frozen=True, eq=False)
class Attribution:
    """What each word contributes to one number of an answer.

    Attributes:
        method: "occlusion", "shapley", "gradient" or "integrated"; attention has weights and no contributions.
        of: what the number is, as a noun phrase: "the probability of “good”".
        values: for each side the contribution of each of its words, [n]; above 0 for the answer, below 0 against it.
        whole: the number with all words.
        start: the number that contributions start from: without words, or with word vectors of zero; None for a method
            whose contributions do not add up.
        errors: for each side the standard error of each contribution; empty for a method without random numbers.
        samples: random orders of Shapley values, or steps of integrated gradients; 0 where there are none.
    """

    method: str
    of: str
    values: tuple[Array, ...]
    whole: float
    start: float | None = None
    errors: tuple[Array, ...] = ()
    samples: int = 0

    def __post_init__(self) -> None:
        for name in ("values", "errors"):
            sides = tuple(np.array(side, np.float64) for side in getattr(self, name))
            object.__setattr__(self, name, sides)
            if any(side.ndim != 1 or not np.isfinite(side).all() for side in sides):
                raise UsageError(f"attribution: {name} need one finite number for each word")
        if self.errors and [len(side) for side in self.errors] != [len(side) for side in self.values]:
            raise UsageError("attribution: errors need one number for each contribution")

    @property
    def total(self) -> float:
        """The sum of all contributions."""
        return float(sum(side.sum() for side in self.values))

    @property
    def gap(self) -> float | None:
        """How far the sum of the contributions misses the change of the number; None if they need not add up."""
        return None if self.start is None else self.whole - self.start - self.total

    @property
    def largest(self) -> float:
        """The size of the largest contribution; 0 without words."""
        return max((float(np.abs(side).max(initial=0.0)) for side in self.values), default=0.0)

    @property
    def exact(self) -> bool:
        """Whether no contribution has an error."""
        return not any(side.any() for side in self.errors)

    @property
    def legend(self) -> str:
        """What the numbers mean, in sentences."""
        return f"{self._meaning()} {_SIGN}"

    def _meaning(self) -> str:
        of = visible(self.of)
        if self.method == "occlusion":
            return f"Each number is how far {of} falls when this word alone is deleted."
        if self.method == "gradient":
            return (
                f"Each number is the gradient of {of} with respect to the vector of the word, times the vector: how "
                "far it changes, to first order, with the length of the vector."
            )
        ends = f"{of} is {self.whole:.3f} with all words and {self.start or 0:.3f}"
        sums = f"The numbers add up to {self.total:+.3f}; {ends} "
        if self.method == "shapley":
            over = (
                "all orders of the words"
                if not self.samples
                else f"{self.samples} random orders of the words"
            )
            errors = "" if self.exact else " The number behind ± is a standard error."
            return f"Each number is what the word adds to {of}, on average over {over}. {sums}without words.{errors}"
        return (
            f"Each number is the gradient of {of} with respect to the vector of the word, averaged over {self.samples} "
            f"steps from zero vectors to the text and multiplied by the vector. {sums}with zero vectors, so the sum "
            f"misses the difference by {abs(self.gap or 0):.4f}."
        )

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; the constructor takes them back."""
        plain = {name: getattr(self, name) for name in ("method", "of", "whole", "start", "samples")}
        sides = {name: [side.tolist() for side in getattr(self, name)] for name in ("values", "errors")}
        return {**plain, **sides}


def with_prefix(attribution: Attribution, added: int) -> Attribution:
    """Put zeros in front of each side, for tokens that the network adds and no text has."""
    front = np.zeros(added)
    values, errors = (
        tuple(np.concatenate([front, side]) for side in sides)
        for sides in (attribution.values, attribution.errors)
    )
    return Attribution(
        attribution.method,
        attribution.of,
        values,
        attribution.whole,
        attribution.start,
        errors,
        attribution.samples,
    )
