"""What a model answers, and how an answer is laid out; the same records with torch and without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np

from heedful.errors import UsageError
from heedful.model.role_spans import RoleSpan, bracketed
from heedful.text.bio import OUTSIDE, scheme_of
from heedful.text.tokenize import Placed


class AnyAnswer(Protocol):
    """What every answer has, whatever a model answers."""

    @property
    def truncated(self) -> bool:
        """Whether a text was cut (only when that was asked for)."""

    @property
    def remarks(self) -> str:
        """What a reader of the answer should know; empty where there is nothing."""

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""


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


@dataclass(frozen=True)
class ReadWords(Read):
    """How a text was read whose words each have an answer.

    Attributes:
        placed: the words, and their places in the text.
    """

    placed: Placed

    @classmethod
    def of(cls, placed: Placed, unknown: int, *, truncated: bool) -> ReadWords:
        """Return how a text was read.

        Args:
            placed: the words that were read, and their places in the text.
            unknown: how many of them the model does not know.
            truncated: whether the text has more.

        Returns:
            The record.
        """
        return cls((len(placed.words),), unknown, truncated, not placed.words, placed)


class _OfTexts:
    """Base of the answers, which all hold the fields of `Read`, at their end."""

    tokens: tuple[int, ...]
    unknown: int
    truncated: bool
    empty: bool
    prediction_set: tuple[str, ...] | None

    @property
    def remarks(self) -> str:
        """What a reader of the answer should know: unknown words, no words, a cut; empty where there is nothing."""
        notes = ["text without words"] if self.empty else []
        if self.unknown:
            notes.append(f"{self.unknown} of {sum(self.tokens)} words unknown")
        if self.truncated:
            notes.append("cut to " + " and ".join(map(str, self.tokens)) + " words")
        return ", ".join(notes)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; what only some models and requests have is there where they have it."""
        plain: dict[str, object] = asdict(self)  # type: ignore[call-overload]
        return {name: value for name, value in plain.items() if value is not None or name not in ON_REQUEST}

    def extra_cells(self) -> list[str]:
        """Return what was asked for beside the answer, as one string a column: a set of labels, or an interval."""
        found, ends = self.prediction_set, getattr(self, "interval", None)
        if found is not None:
            return [", ".join(found) or "-"]
        return [] if ends is None else [f"{ends[0]:.6g} to {ends[1]:.6g}"]


ON_REQUEST = ("prediction_set", "interval", "unlike", "unlike_share", "parents")
"""Fields of answers that are there only where they were asked for."""


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
        prediction_set: classes of which one is right as often as was asked for, the likeliest first; None where that
            was not asked for.
        interval: of a number, the ends between which it lies as often as was asked for; else None.
        unlike: how unlike all training texts the text is, where the model can answer that no class fits; else None.
        unlike_share: the share of known texts that are less unlike.
        parents: where classes were taken as paths of a tree, the probability of each parent; ``label`` may then be one.
    """

    label: str | None
    probabilities: dict[str, float]
    score: float | None
    tokens: tuple[int, ...]
    unknown: int
    truncated: bool
    empty: bool
    prediction_set: tuple[str, ...] | None = None
    interval: tuple[float, float] | None = None
    unlike: float | None = None
    unlike_share: float | None = None
    parents: dict[str, float] | None = None

    @property
    def confidence(self) -> float:
        """The probability of the answered class; where none fits, the share of known texts that are less unlike."""
        name = str(self.label)
        if self.parents is not None and name in self.parents:  # which has the class of this name too
            return self.parents[name]
        probability = self.probabilities.get(name, self.unlike_share)
        return 0.0 if probability is None else probability


@dataclass(frozen=True)
class LabelsAnswer(_OfTexts):
    """What a model of several labels, or of several label columns, says about one text.

    Attributes:
        labels: the labels whose probability reaches their threshold, the likeliest first; may be none. Of label columns
            one class of each, in the order of the columns, such as "mood: glad".
        probabilities: label to probability, each by itself; of label columns those of a column sum to 1.
        tokens: number of words that were read.
        unknown: how many of them the model does not know.
        truncated: whether the text was cut (only when that was asked for).
        empty: whether the text has no words.
        prediction_set: labels that hold as many of the right ones as was asked for, the likeliest first; None where
            that was not asked for.
    """

    labels: tuple[str, ...]
    probabilities: dict[str, float]
    tokens: tuple[int, ...]
    unknown: int
    truncated: bool
    empty: bool
    prediction_set: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ShownTree:
    """What a shown answer has where its classes were taken as paths.

    Attributes:
        parents: name of each parent to the numbers of the classes below it, and its own where it is a class.
        answered: the class or the parent that is answered.
        at_least: the probability that the answer must have; None where the class itself is answered.
    """

    parents: Mapping[str, Sequence[int]]
    answered: str
    at_least: float | None


@dataclass(frozen=True)
class ShownAnswer:
    """An answer as an explanation shows it.

    Attributes:
        labels: what the answer chooses among; none where it is a number.
        probabilities: of the labels.
        score: the number, where the answer is one.
        score_range: the least and the greatest number that there can be.
        answered: the number of the label that is answered; None for the most probable one.
        chosen: of several labels the numbers of those that are answered, the likeliest first; None for one of them.
        deletable: whether deleting words is measured by the probability of the first answer.
        kind: how logits become the answer: "class", a softmax; "label", each by itself; "grade", the mean of a softmax
            over grades; "number", the logit itself.
        temperature: what logits are divided by before.
        quantity: what a number is called, such as the column of its gold; empty where that is not known.
        rivals: of label columns for each class the numbers of those of its column; empty where all classes are rivals.
        tree: what classes that are paths add; None where they were not taken as such.
    """

    labels: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()
    score: float | None = None
    score_range: tuple[float, float] | None = None
    answered: int | None = None
    chosen: tuple[int, ...] | None = None
    deletable: bool = True
    kind: Literal["class", "label", "grade", "number"] = "class"
    temperature: float = 1.0
    quantity: str = ""
    rivals: tuple[tuple[int, ...], ...] = ()
    tree: ShownTree | None = None

    def __post_init__(self) -> None:
        """Refuse a number that is said to be the choice of a class."""
        if self.score is not None and self.kind in ("class", "label"):
            raise UsageError(f'kind: expected "number" or "grade" beside a score, got {self.kind!r}')

    @property
    def best(self) -> int:
        """The number of the label that is answered; 0 where the answer is a number."""
        if self.answered is not None:
            return self.answered
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__, default=0)


A = TypeVar("A")


@dataclass(frozen=True)
class AnswerLayout(Generic[A]):
    """The answers of a task as columns.

    Attributes:
        header: name of each column.
        kind: the class of the answers.
        lay_out: an answer to as many strings.
    """

    header: tuple[str, ...]
    kind: type[A]
    lay_out: Callable[[A], list[str]]

    def cells(self, answer: object) -> list[str]:
        """Return an answer as one string a column.

        Args:
            answer: of the task.

        Returns:
            The strings.

        Raises:
            TypeError: if it is the answer of another task.
        """
        if not isinstance(answer, self.kind):
            raise TypeError(f"expected {self.kind.__name__}, got {type(answer).__name__}")
        extra = answer.extra_cells() if isinstance(answer, _OfTexts) else []
        return [*self.lay_out(answer), *extra]


_NEARLY = 1e-6
"""What a probability is short of 1 at most, and above 0 at least, where it is written."""


def decimals(probability: float) -> str:
    """Write a probability with three decimals, or with up to six so that nothing short of certain reads as certain.

    >>> decimals(0.9964), decimals(0.99972), decimals(0.99999), decimals(1.0), decimals(0.0), decimals(0.0001)
    ('0.996', '0.9997', '0.99999', '0.999999', '0.000001', '0.0001')
    """
    share = min(max(probability, _NEARLY), 1 - _NEARLY)
    written = (f"{share:.{digits}f}" for digits in range(3, 7))
    return next(text for text in written if 0 < float(text) < 1)


def _class_cells(answer: Answer) -> list[str]:
    return [str(answer.label), decimals(answer.confidence), answer.remarks]


def _labels_cells(answer: LabelsAnswer) -> list[str]:
    """Without a label "-" and the probability of the likeliest."""
    shown = answer.labels or (max(answer.probabilities, key=lambda name: answer.probabilities[name]),)
    figures = ", ".join(decimals(answer.probabilities[name]) for name in shown)
    return [", ".join(answer.labels) or "-", figures, answer.remarks]


CLASSES = AnswerLayout[Answer](("prediction", "probability", "warnings"), Answer, _class_cells)
GRADES = AnswerLayout[Answer](
    ("score", "warnings"), Answer, lambda answer: [f"{answer.score:.3f}", answer.remarks]
)
NUMBERS = AnswerLayout[Answer](
    ("number", "warnings"), Answer, lambda answer: [f"{answer.score:.6g}", answer.remarks]
)
LABELS = AnswerLayout[LabelsAnswer](("labels", "probability", "warnings"), LabelsAnswer, _labels_cells)


def remarks_on(words: Sequence[str], unknown: int, *, truncated: bool) -> list[str]:
    """Return what a reader of tagged words should know of how the text was read."""
    return [
        *([] if words else ["text without words"]),
        *([f"{unknown} of {len(words)} words unknown"] if unknown else []),
        *([f"cut to {len(words)} words"] if truncated else []),
    ]


@dataclass(frozen=True)
class WordsRead:
    """What every answer about the words of one text begins with.

    Attributes:
        words: the words that were read.
        offsets: [start, end) of each in the text, in characters; in the words joined by single spaces where the text
            came as words.
    """

    words: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class TagsAnswer(WordsRead):
    """What a model of tags says about one text.

    Attributes:
        tags: the tag of each word.
        probabilities: of each tag, each word by itself.
        spans: what BIO or BIOES mark; none where tags are plain.
        unknown: how many words the model does not know.
        truncated: whether the text was cut (only when that was asked for).
    """

    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    spans: tuple[RoleSpan, ...]
    unknown: int
    truncated: bool

    @property
    def remarks(self) -> str:
        """What a reader of the answer should know; empty where there is nothing."""
        return ", ".join(remarks_on(self.words, self.unknown, truncated=self.truncated))

    def in_a_line(self) -> str:
        """Write the words with their tags: ``[PER Ada Lovelace] wrote``, or ``Ada/PROPN wrote/VERB``."""
        if self.spans or scheme_of(self.tags) != "plain" or set(self.tags) == {OUTSIDE}:
            return bracketed(self.words, self.spans)
        return " ".join(f"{word}/{tag}" for word, tag in zip(self.words, self.tags, strict=True))

    def columns(self) -> str:
        """Write a word and its tag a line, set apart by a tab, and an empty line behind them."""
        return "".join(f"{word}\t{tag}\n" for word, tag in zip(self.words, self.tags, strict=True))

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def _cells(answer: TagsAnswer) -> list[str]:
    """The probability is the mean over the words."""
    mean = decimals(float(np.mean(answer.probabilities))) if answer.words else ""
    return [answer.in_a_line(), mean, answer.remarks]


TAGS = AnswerLayout[TagsAnswer](("tags", "probability", "warnings"), TagsAnswer, _cells)
