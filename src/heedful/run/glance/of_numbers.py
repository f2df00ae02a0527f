"""What is said of a whole model of numbers or scores: how far it is off, where, and what raises and lowers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example
from heedful.evaluation.metrics import number_metrics
from heedful.explain.word_sums import LOWERS, RAISES
from heedful.model.answers import Answer
from heedful.run.glance.gathering import MISTAKES, SUSPECTS, WORDS, GlanceRequest
from heedful.run.glance.sections import Overview, Section, ShownRow, Table, Texts, Words, filled
from heedful.run.glance.slices import FEWEST, sliced
from heedful.run.important_words import SummedRows

Floats = NDArray[np.float64]
_BINS, _SPREADS, _SLICES = 5, 4.0, 20
"""Parts of the answers that are compared with the truth; robust standard deviations from which a row is suspect."""


def numbers_at(
    request: GlanceRequest,
    examples: Sequence[Example],
    answers: Sequence[Answer],
    source: str,
    read: Sequence[str],
    seconds: float,
) -> Overview:
    """Return what is noticed of a model of numbers.

    Args:
        request: the model.
        examples: rows whose target is a number.
        answers: to each.
        source: what the rows are called.
        read: columns of the texts and the number.
        seconds: after which no further text is explained.

    Returns:
        The report.
    """
    gold = np.array([float(str(example.target)) for example in examples])
    said = np.array([answer.score for answer in answers], np.float64)
    off = said - gold
    error, far = np.abs(off), np.argsort(-np.abs(off), kind="stable").tolist()
    summed = SummedRows(examples, request.explain_roughly, seconds)
    words = {name: summed.top(name, WORDS) for name in (RAISES, LOWERS)}

    def facts(place: int) -> str:
        return f"row {examples[place].row:,}: {gold[place]:.4g}, answered {said[place]:.4g}"

    different = {examples[place].texts: place for place in reversed(far)}
    worst = sorted(different.values(), key=lambda place: -error[place])[:MISTAKES]
    mistakes = tuple(ShownRow(place, facts(place), request.explain(examples[place])) for place in worst)
    suspects = _suspects(off)
    return Overview(
        request.name,
        source,
        f"off by {error.mean():.3g} on average",
        f"{len(gold):,} rows; {_span(error)}; the mean of all would be off by {np.abs(gold - gold.mean()).mean():.3g}",
        examples,
        filled(
            Section(
                "figures",
                "Figures",
                "How far the answers are from the numbers in the file.",
                (_figures(gold, said),),
            ),
            Section(
                "words",
                "Words and phrases",
                f"Mean contributions to the number, in its own unit, in those of {summed.sums.texts:,} explained rows "
                "where the word stands. Words that matter together are one phrase.",
                (Words({summed.sums.called(name): found for name, found in words.items() if found}),)
                if any(words.values())
                else (),
            ),
            Section(
                "mistakes",
                "Largest errors",
                "The answers that are farthest off, or the wrong numbers; blue words raise the answer, orange ones "
                "lower it.",
                (Texts(mistakes),) if mistakes else (),
            ),
            Section(
                "slices",
                "Slices",
                "Parts of the rows, the weakest first. Weak: the whole 95 % interval of the error lies above that of "
                "all rows. Where many are looked at, some are weak by chance.",
                tuple(_slices(examples, answers, error, read)),
            ),
            Section(
                "calibration",
                "Answers against numbers",
                "The rows in five parts by the answer: its mean, and the mean of the numbers in the file, should "
                "be the same.",
                (_calibration(gold, said),),
            ),
            Section(
                "suspects",
                "Suspect rows",
                f"{len(suspects):,} rows are farther off than {_SPREADS:g} robust standard deviations of the errors. "
                "The model may be wrong as well; a person has to decide.",
                (Texts(tuple(ShownRow(place, facts(place)) for place in suspects[:SUSPECTS])),)
                if suspects
                else (),
            ),
        ),
        {"mean_error": float(error.mean()), "explained": summed.sums.texts, "suspected": len(suspects)},
    )


def _interval(error: Floats) -> tuple[float, float]:
    half = 1.96 * float(error.std(ddof=1)) / sqrt(len(error)) if len(error) > 1 else 0.0
    return float(error.mean()) - half, float(error.mean()) + half


def _span(error: Floats) -> str:
    low, high = _interval(error)
    return f"95 % interval {max(low, 0.0):.3g} to {high:.3g}"


def _figures(gold: Floats, said: Floats) -> Table:
    off = said - gold
    figures = {
        "mean error, without its sign": np.abs(off).mean(),
        "mean error": off.mean(),
        "root of the mean square": np.sqrt((off**2).mean()),
    }
    varied = len(gold) > 2 and gold.std() > 0 and said.std() > 0
    if varied:
        figures["correlation (Pearson)"] = np.corrcoef(gold, said)[0, 1]
        figures["correlation of the ranks (Spearman)"] = number_metrics(gold, said)["spearman"]
    return Table(("figure", "value"), tuple((name, f"{value:.4g}") for name, value in figures.items()))


def _slices(
    examples: Sequence[Example], answers: Sequence[Answer], error: Floats, read: Sequence[str]
) -> Iterator[Table]:
    found = []
    for name, chosen in sliced(examples, answers, read):
        low, high = _interval(error[chosen])
        found.append((name, int(chosen.sum()), float(error[chosen].mean()), low, high))
    found.sort(key=lambda each: (each[3] <= error.mean(), -each[3]))
    if found:
        rows = tuple(
            (
                name,
                f"{count:,}",
                f"{mean:.3g}",
                f"{max(low, 0):.3g} to {high:.3g}",
                "weak" if low > error.mean() else "",
            )
            for name, count, mean, low, high in found[:_SLICES]
        )
        strong = frozenset(k for k, row in enumerate(rows) if row[-1])
        yield Table(("rows with", "rows", "off by", "95 % interval", "note"), rows, strong)


def _calibration(gold: Floats, said: Floats) -> Table:
    order = np.argsort(said, kind="stable")
    parts = [part for part in np.array_split(order, min(_BINS, max(1, len(order) // FEWEST))) if len(part)]
    rows = (
        (
            f"{said[part[0]]:.3g} to {said[part[-1]]:.3g}",
            f"{said[part].mean():.3g}",
            f"{gold[part].mean():.3g}",
            f"{len(part):,}",
        )
        for part in parts
    )
    return Table(("answers", "on average", "in the file", "rows"), tuple(rows))


def _suspects(off: Floats) -> list[int]:
    center = float(np.median(off))
    spread = 1.4826 * float(np.median(np.abs(off - center)))  # the standard deviation, were errors normal
    distance = np.abs(off - center)
    far = np.flatnonzero(distance > _SPREADS * max(spread, 1e-12))
    order: list[int] = far[np.argsort(-distance[far], kind="stable")].tolist()
    return order
