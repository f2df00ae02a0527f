"""What is said of a whole model: it answers labeled rows, and some of them are explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example
from heedful.errors import DataError, UsageError
from heedful.evaluation import Interval, Reliability, accuracy_interval
from heedful.evaluation.calibration import reliability
from heedful.evaluation.confident_learning import rank_suspects
from heedful.evaluation.metrics import class_scores
from heedful.explain import Explanation
from heedful.explain.word_sums import WordSum
from heedful.model.answers import Answer
from heedful.run.glance.shared_tables import by_rows
from heedful.run.glance.slices import Slice, slices_of
from heedful.run.important_words import SummedRows

SECONDS = 30.0
WORDS, PAIRS, TEXTS, MISTAKES, SUSPECTS = 12, 12, 5, 10, 20
"""How many words of a class, pairs of classes, texts of a pair, mistakes and labels are kept."""


@dataclass(frozen=True)
class GlanceRequest:
    """A model, as it is asked here.

    Attributes:
        name: what it is called.
        labels: its classes.
        answer: answers examples.
        explain: explains the answer to one example.
        explain_roughly: likewise, with fewer choices of words, where many are added up.
        explain_part: explains a label of an example, or the tag of a word: takes the example, the label or "", and the
            number of the word from 1 or "". None for models without such parts.
        none: what it answers to a text that fits no class; empty for a model that always answers one. Rows with a label
            that it does not know count as such texts.
        label_columns: whether it answers each of several label columns, of which a row may lack some.
    """

    name: str
    labels: tuple[str, ...]
    answer: Callable[[Sequence[Example]], Sequence[Any]]
    explain: Callable[[Example], Explanation]
    explain_roughly: Callable[[Example], Explanation]
    explain_part: Callable[[Example, str, str], Explanation] | None = None
    none: str = ""
    label_columns: bool = False


@dataclass(frozen=True)
class Class:
    """One class: its figures, and the words and phrases that speak for it.

    Attributes:
        name: the class.
        count: rows with this label.
        precision: share of the answers with this class that is right.
        recall: share of the rows with this label that is found.
        f1: their harmonic mean.
        words: the strongest first; their texts are places in `Glance.examples`.
    """

    name: str
    count: int
    precision: float
    recall: float
    f1: float
    words: tuple[WordSum, ...]


@dataclass(frozen=True)
class Confusion:
    """Rows of one class that are taken for another one.

    Attributes:
        label: their label.
        answer: what the model answers.
        count: how many there are.
        places: of those that the model is surest of, in `Glance.examples`.
    """

    label: str
    answer: str
    count: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class DoubtedLabel:
    """A label that the model doubts; see `heedful.evaluation.confident_learning`.

    Attributes:
        place: in `Glance.examples`.
        probability: of the label.
        suggestion: the class that the model would give.
        suggested: its probability.
    """

    place: int
    probability: float
    suggestion: str
    suggested: float


@dataclass(frozen=True, eq=False)
class Glance:
    """A whole model at a glance.

    Attributes:
        model: what it is called.
        source: what the rows are called.
        examples: the rows with labels.
        answers: to each.
        accuracy: share of right answers.
        interval: its 95 % interval.
        classes: every class; of more than 20 those with the most rows first.
        confusions: the most frequent ones first.
        mistakes: places of wrong answers with their explanations, the surest first.
        slices: the weakest first.
        calibration: confidence against accuracy.
        suspects: the least probable label first.
        suspected: how many there are in all.
        explained: from how many texts the words were added up.
    """

    model: str
    source: str
    examples: Sequence[Example]
    answers: Sequence[Answer]
    accuracy: float
    interval: Interval
    classes: tuple[Class, ...]
    confusions: tuple[Confusion, ...]
    mistakes: tuple[tuple[int, Explanation], ...]
    slices: tuple[Slice, ...]
    calibration: Reliability
    suspects: tuple[DoubtedLabel, ...]
    suspected: int
    explained: int

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; texts stand where they belong."""

        def row(place: int) -> dict[str, object]:
            example, answer = self.examples[place], self.answers[place]
            return {
                "row": example.row,
                "texts": list(example.texts),
                "label": str(example.target),
                "answer": answer.label,
                "probability": answer.confidence,
            }

        return {
            "model": self.model,
            "rows": len(self.examples),
            "accuracy": self.accuracy,
            "interval": [self.interval.low, self.interval.high],
            "classes": [
                {
                    **asdict(each),
                    "words": [{"word": w.name, "mean": w.mean, "texts": w.count} for w in each.words],
                }
                for each in self.classes
            ],
            "confusions": [
                {
                    "label": each.label,
                    "answer": each.answer,
                    "count": each.count,
                    "texts": list(map(row, each.places)),
                }
                for each in self.confusions
            ],
            "mistakes": [row(place) for place, _ in self.mistakes],
            "slices": [
                {**asdict(each), "interval": [each.interval.low, each.interval.high]} for each in self.slices
            ],
            "calibration": asdict(self.calibration),
            "suspects": [{**row(each.place), **asdict(each)} for each in self.suspects],
            "suspected": self.suspected,
            "explained": self.explained,
        }


def glance_at(
    request: GlanceRequest,
    examples: Sequence[Example],
    source: str,
    read: Sequence[str],
    *,
    seconds: float = SECONDS,
    print_line: Callable[[str], None] = lambda _: None,
) -> Glance:
    """Let a model answer labeled rows and say what is noticed.

    Args:
        request: the model.
        examples: the rows; those without a label are left out.
        source: what they are called.
        read: columns of the texts and the label.
        seconds: after which no further text is explained; those that are explained are drawn with a fixed seed.
        print_line: told what happens.

    Returns:
        What was noticed.

    Raises:
        UsageError: if the model does not answer with one class.
        DataError: if no row has a label.
    """
    if not request.labels:
        raise UsageError(
            f"{request.name}: a report of a whole model is for models that answer with one class"
        )
    known_labels = {*request.labels, request.none}
    kept = [
        replace(example, target=request.none)
        if request.none and str(example.target) not in known_labels
        else example
        for example in examples
        if example.target is not None
    ]
    if not kept:
        raise DataError(f"{source}: no row has a label")
    answers = request.answer(kept)
    print_line(f"{len(kept):,} rows are answered; explaining some of them takes up to {seconds:.0f} seconds")
    named = {str(e.target) for e in kept} | {str(answer.label) for answer in answers}  # "none of these" too
    labels = [*request.labels, *sorted(named - set(request.labels))]
    number = {label: place for place, label in enumerate(labels)}
    gold = np.array([number[str(example.target)] for example in kept], np.int64)
    predicted = np.array([number[str(answer.label)] for answer in answers], np.int64)
    shares = np.array([[answer.probabilities[label] for label in request.labels] for answer in answers])
    right, sure = gold == predicted, np.array([answer.confidence for answer in answers])
    surest = _surest(np.flatnonzero(~right), sure)
    different = {
        kept[place].texts: place for place in reversed(surest)
    }  # a text that is there twice is shown once
    mistakes = [
        (place, request.explain(kept[place]))
        for place in _surest(np.array([*different.values()], int), sure)[:MISTAKES]
    ]
    summed = SummedRows(kept, request.explain_roughly, seconds)
    known = np.flatnonzero(gold < len(request.labels))
    ranked = known[rank_suspects(shares[known], gold[known])] if len(known) else known
    return Glance(
        request.name,
        source,
        kept,
        answers,
        float(right.mean()),
        accuracy_interval(int(right.sum()), len(right)),
        _classes(labels, gold, predicted, summed),
        _confusions(labels, gold, predicted, surest),
        tuple(mistakes),
        tuple(slices_of(kept, answers, right, read)),
        _calibration(shares[known], gold[known]) if request.none else _calibration(shares, gold),
        tuple(
            DoubtedLabel(
                int(k), float(shares[k, gold[k]]), labels[int(shares[k].argmax())], float(shares[k].max())
            )
            for k in ranked[:SUSPECTS]
        ),
        len(ranked),
        summed.sums.texts,
    )


def _calibration(shares: NDArray[np.float64], gold: NDArray[np.int64]) -> Reliability:
    """Compare probabilities with how often they come true; without rows nothing is off."""
    return reliability(np.log(np.maximum(shares, 1e-300)), gold) if len(gold) else Reliability(0.0, 0.0, ())


def _surest(places: NDArray[np.int64], sure: NDArray[np.float64]) -> list[int]:
    order: list[int] = places[np.argsort(-sure[places], kind="stable")].tolist()
    return order


def _classes(
    labels: Sequence[str],
    gold: NDArray[np.int64],
    predicted: NDArray[np.int64],
    summed: SummedRows,
) -> tuple[Class, ...]:
    scores = class_scores(gold, predicted, np.arange(len(labels)))
    counts = np.bincount(gold, minlength=len(labels))
    found = []
    for k in by_rows(counts.tolist()):
        figures = (float(scores.precision[k]), float(scores.recall[k]), float(scores.f1[k]))
        found.append(Class(labels[k], int(counts[k]), *figures, summed.top(labels[k], WORDS)))
    return tuple(found)


def _confusions(
    labels: Sequence[str], gold: NDArray[np.int64], predicted: NDArray[np.int64], surest: Sequence[int]
) -> tuple[Confusion, ...]:
    pairs = Counter((int(gold[place]), int(predicted[place])) for place in surest)
    return tuple(
        Confusion(
            labels[own],
            labels[other],
            count,
            tuple([place for place in surest if (gold[place], predicted[place]) == (own, other)][:TEXTS]),
        )
        for (own, other), count in pairs.most_common(PAIRS)
    )
