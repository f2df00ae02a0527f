"""The record of what each word contributes to an answer, by one method. Imports no torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.characters import visible

Array = NDArray[Any]
JOINTS = 20
"""Pairs of words that an attribution keeps of what stands together."""
LINKS = 6
"""Words of both texts of a pair that an attribution keeps."""
REACH = 2.0
"""A contribution of this size to log-odds has the darkest color in every picture, so that shades compare."""


@dataclass(frozen=True)
class Joint:
    """Words that stand together, and what they contribute only together.

    Attributes:
        side: 0 for a text or the first of a pair, 1 for the second.
        start: the first word, from 0.
        end: the word after the last.
        value: what the words contribute beyond what each of them does without the other; it is shared among their
            contributions already.
    """

    side: int
    start: int
    end: int
    value: float


@dataclass(frozen=True)
class Across:
    """A word of each text of a pair, and what they contribute only together.

    Attributes:
        first: the word of the first text, from 0.
        second: the word of the second text.
        value: what both contribute beyond what each of them does without the other; it is shared among all
            contributions already.
    """

    first: int
    second: int
    value: float


@dataclass(frozen=True)
class ColumnShare:
    """What a column beside the text contributes.

    Attributes:
        name: of the column.
        shown: its value, as a picture writes it.
        value: how much it changes the number beside a row of average columns.
    """

    name: str
    shown: str
    value: float


@dataclass(frozen=True, eq=False)
class Attribution:
    """What each word contributes to one number of an answer.

    Of the methods whose contributions add up, ``start + total + beside + together == whole``.

    Attributes:
        method: "contributions", "occlusion", "shapley", "gradient" or "integrated"; attention has weights and no
            contributions.
        of: what the number is, as a noun phrase: "the log-odds of “good”".
        values: for each side the contribution of each of its words, [n]; above 0 it raises the number, below 0 it
            lowers it.
        whole: the number with all words.
        columns: what each column beside the text contributes; empty without columns, and for methods other than
            "contributions", whose start has the columns.
        start: the number without words, or with word vectors of zero: what contributions start from.
        together: what the words do together and no contribution holds; 0 for methods that share everything.
        label: the class or label whose log-odds the number is; empty for a number.
        probability: that the answer shows of it; None for a number.
        joint: words that contribute together, in the order of the text.
        across: of a pair, words of both texts that contribute together, the strongest first.
        reach: the size of a contribution that has the darkest color.
        errors: for each side the standard error of each contribution; empty for a method without random orders.
        samples: random orders of Shapley values, steps of integrated gradients, or choices of words that were computed;
            0 where everything is exact without.
        run: of a long text how many neighboring words were left out together, each with its part of the number.
    """

    method: str
    of: str
    values: tuple[Array, ...]
    whole: float
    start: float = 0.0
    together: float = 0.0
    label: str = ""
    probability: float | None = None
    joint: tuple[Joint, ...] = ()
    across: tuple[Across, ...] = ()
    reach: float = REACH
    errors: tuple[Array, ...] = ()
    samples: int = 0
    run: int = 1
    columns: tuple[ColumnShare, ...] = ()

    def __post_init__(self) -> None:
        for name in ("values", "errors"):
            sides = tuple(np.array(side, np.float64) for side in getattr(self, name))
            object.__setattr__(self, name, sides)
            if any(side.ndim != 1 or not np.isfinite(side).all() for side in sides):
                raise UsageError(f"attribution: {name} need one finite number for each word")
        if self.errors and [len(side) for side in self.errors] != [len(side) for side in self.values]:
            raise UsageError("attribution: errors need one number for each contribution")
        object.__setattr__(
            self, "joint", tuple(j if isinstance(j, Joint) else Joint(**j) for j in self.joint)
        )
        object.__setattr__(
            self, "across", tuple(a if isinstance(a, Across) else Across(**a) for a in self.across)
        )
        object.__setattr__(
            self,
            "columns",
            tuple(c if isinstance(c, ColumnShare) else ColumnShare(**c) for c in self.columns),
        )
        lengths = [len(side) for side in self.values]
        fits = all(0 <= a.first < lengths[0] and 0 <= a.second < lengths[-1] for a in self.across) and all(
            0 <= j.side < len(self.values) and 0 <= j.start < j.end <= len(self.values[j.side])
            for j in self.joint
        )
        numbers = [
            self.whole,
            self.start,
            self.together,
            self.reach,
            *(joint.value for joint in self.joint),
            *(pair.value for pair in self.across),
            *(column.value for column in self.columns),
        ]
        if not fits or not np.isfinite(np.array(numbers, np.float64)).all() or self.reach <= 0:
            raise UsageError(
                "attribution: numbers must be finite, and words that stand together must be there"
            )

    @property
    def total(self) -> float:
        """The sum of all contributions of words."""
        return float(sum(side.sum() for side in self.values))

    @property
    def beside(self) -> float:
        """The sum of the contributions of the columns beside the text."""
        return sum(column.value for column in self.columns)

    @property
    def gap(self) -> float:
        """How far everything misses the number; exactly 0 for exact methods, but for rounding."""
        return self.whole - self.start - self.total - self.beside - self.together

    @property
    def largest(self) -> float:
        """The size of the largest contribution, of a word or a column; 0 where there is none."""
        words = [float(np.abs(side).max(initial=0.0)) for side in self.values]
        return max([*words, *(abs(column.value) for column in self.columns)], default=0.0)

    @property
    def exact(self) -> bool:
        """Whether no contribution has an error."""
        return not any(side.any() for side in self.errors)

    @property
    def is_log_odds(self) -> bool:
        """Whether the number is the log-odds of a probability."""
        return self.probability is not None

    @property
    def signs(self) -> tuple[str, str]:
        """What a contribution above 0 does, and one below."""
        return ("for", "against") if self.is_log_odds else ("raises", "lowers")

    @property
    def legend(self) -> str:
        """What the numbers mean, in sentences."""
        of = visible(self.of)
        if not self.columns and not any(len(side) for side in self.values):
            return f"There are no words; the base is what {of} is without them."
        raises = (
            f"Above 0 a word speaks for “{visible(self.label)}”, below 0 against it."
            if self.is_log_odds
            else "Above 0 a word raises the number, below 0 it lowers it."
        )
        start = "with vectors of zero in the network" if self.starts_at_zero else "without words"
        if self.columns:
            raises += " The columns beside the text count beside a row of average columns."
            start += " and with average columns"
        sums = f"With the base, which is {of} {start}, everything adds up to the sum."
        return f"{self._meaning(of)} {raises} {sums}"

    @property
    def starts_at_zero(self) -> bool:
        """Whether contributions start from word vectors of zero, and not from a text without words."""
        return self.method in ("gradient", "integrated")

    def _meaning(self, of: str) -> str:
        if self.method == "contributions":
            count = f"computed from {self.samples:,} choices of the words" if self.samples else "exact"
            count += f", of runs of {self.run} words" if self.run > 1 else ""
            return f"Each number is how much the word changes {of} ({count})."
        if self.method == "occlusion":
            return f"Each number is how far {of} falls when this word alone is left out."
        if self.method == "gradient":
            return f"Each number is the gradient of {of} with respect to the vector of the word, times the vector."
        if self.method == "shapley":
            over = f"{self.samples} random orders" if self.samples else "all orders"
            errors = "" if self.exact else " The number behind ± is a standard error."
            return f"Each number is what the word adds to {of}, on average over {over} of the words.{errors}"
        return (
            f"Each number is the gradient of {of} with respect to the vector of the word, averaged over {self.samples} "
            "steps from zero vectors to the text and multiplied by the vector."
        )

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; the constructor takes them back."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        sides = {name: [side.tolist() for side in plain[name]] for name in ("values", "errors")}
        lists = {name: [*map(asdict, plain[name])] for name in ("joint", "across", "columns")}
        return {**plain, **sides, **lists}


def with_prefix(attribution: Attribution, added: int) -> Attribution:
    """Put zeros in front of each side, for tokens that the network adds and no text has."""
    front = np.zeros(added)
    values, errors = (
        tuple(np.concatenate([front, side]) for side in sides)
        for sides in (attribution.values, attribution.errors)
    )
    joint = tuple(replace(j, start=j.start + added, end=j.end + added) for j in attribution.joint)
    across = tuple(replace(a, first=a.first + added, second=a.second + added) for a in attribution.across)
    return replace(attribution, values=values, errors=errors, joint=joint, across=across)
