"""What a model answers, and how an answer is laid out; every task with or without torch has these records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar


@dataclass(frozen=True)
class Read:
    """How a request was read.

    Attributes:
        tokens: number of words that were read of each text.
        unknown: how many of them the model does not know.
        truncated: whether a text was cut (only when that was asked for).
        empty: whether a text has no words; its vector is then zero.
    """

    tokens: tuple[int, ...]
    unknown: int
    truncated: bool
    empty: bool


class _OfTexts:
    """Base of the answers, which all hold the fields of `Read`, at their end."""

    tokens: tuple[int, ...]
    unknown: int
    truncated: bool
    empty: bool

    @property
    def remarks(self) -> str:
        """What a reader of the answer should know: unknown words, no words, a cut; empty where there is nothing."""
        notes = ["text without words"] if self.empty else []
        if self.unknown:
            notes.append(f"{self.unknown} of {sum(self.tokens)} words unknown")
        if self.truncated:
            notes.append("cut to " + " and ".join(map(str, self.tokens)) + " words")
        return ", ".join(notes)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)  # type: ignore[call-overload]


@dataclass(frozen=True)
class Answer(_OfTexts):
    """What a model says about one text or pair.

    Attributes:
        label: the most probable class, or where wrong answers have costs the one that is expected to cost least; None
            for relatedness and for numbers.
        probabilities: class name to probability; they sum to 1. For relatedness the grades "1", "2" and so on; empty
            for numbers.
        score: the expected grade for relatedness, or the number; else None.
        tokens: number of words that were read of each text.
        unknown: how many of them the model does not know.
        truncated: whether a text was cut (only when that was asked for).
        empty: whether a text has no tokens; its vector is then zero.
    """

    label: str | None
    probabilities: dict[str, float]
    score: float | None
    tokens: tuple[int, ...]
    unknown: int
    truncated: bool
    empty: bool


@dataclass(frozen=True)
class LabelsAnswer(_OfTexts):
    """What a model of several labels says about one text.

    Attributes:
        labels: the labels whose probability reaches their threshold, the likeliest first; may be none.
        probabilities: label to probability, each by itself.
        tokens: number of words that were read.
        unknown: how many of them the model does not know.
        truncated: whether the text was cut (only when that was asked for).
        empty: whether the text has no words.
    """

    labels: tuple[str, ...]
    probabilities: dict[str, float]
    tokens: tuple[int, ...]
    unknown: int
    truncated: bool
    empty: bool


@dataclass(frozen=True)
class Shown:
    """An answer as an explanation shows it.

    Attributes:
        labels: what the answer chooses among; none where it is a number.
        probabilities: of the labels.
        score: the number, where the answer is one.
        score_range: the least and the greatest number that there can be.
        answered: the number of the label that is answered; None for the most probable one.
        deletable: whether deleting words is measured by the probability of the first answer.
    """

    labels: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    score: float | None = None
    score_range: tuple[float, float] | None = None
    answered: int | None = None
    deletable: bool = True

    @property
    def best(self) -> int:
        """The number of the label that is answered; 0 where the answer is a number."""
        if self.answered is not None:
            return self.answered
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__, default=0)


A = TypeVar("A")


@dataclass(frozen=True)
class Layout(Generic[A]):
    """The answers of a task as columns.

    Attributes:
        header: name of each column.
        cells: an answer to as many strings.
    """

    header: tuple[str, ...]
    cells: Callable[[A], list[str]]


def _class_cells(answer: Answer) -> list[str]:
    return [str(answer.label), f"{answer.probabilities[str(answer.label)]:.3f}", answer.remarks]


def _labels_cells(answer: LabelsAnswer) -> list[str]:
    """Without a label "-" and the probability of the likeliest."""
    shown = answer.labels or (max(answer.probabilities, key=lambda name: answer.probabilities[name]),)
    figures = ", ".join(f"{answer.probabilities[name]:.3f}" for name in shown)
    return [", ".join(answer.labels) or "-", figures, answer.remarks]


CLASSES = Layout[Answer](("prediction", "probability", "warnings"), _class_cells)
GRADES = Layout[Answer](("score", "warnings"), lambda answer: [f"{answer.score:.3f}", answer.remarks])
NUMBERS = Layout[Answer](("number", "warnings"), lambda answer: [f"{answer.score:.6g}", answer.remarks])
LABELS = Layout[LabelsAnswer](("labels", "probability", "warnings"), _labels_cells)
