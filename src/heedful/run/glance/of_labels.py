"""What is said of a whole model of several labels: which it misses, which it adds, and what speaks for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example, LabelSet
from heedful.evaluation import accuracy_interval
from heedful.evaluation.column_report import known_cells
from heedful.evaluation.confident_learning import rank_suspects
from heedful.model.answers import LabelsAnswer
from heedful.model.decisions.label_columns import column_places
from heedful.run.glance.gathering import MISTAKES, PAIRS, SUSPECTS, TEXTS, WORDS, GlanceRequest
from heedful.run.glance.sections import Overview, Section, ShownRow, Table, Texts, Words, filled
from heedful.run.glance.shared_tables import by_rows, calibration_table, score_cells, slice_table
from heedful.run.important_words import SummedRows
from heedful.tables import counted, percent

Bools = NDArray[np.bool_]
Facts = Callable[[int, int], str]
"""What is said of a row and one of the labels."""


def labels_at(
    request: GlanceRequest,
    examples: Sequence[Example],
    answers: Sequence[LabelsAnswer],
    source: str,
    read: Sequence[str],
    seconds: float,
) -> Overview:
    """Return what is noticed of a model of several labels.

    Args:
        request: the model.
        examples: rows whose target is a set of labels.
        answers: to each.
        source: what the rows are called.
        read: columns of the texts and the labels.
        seconds: after which no further text is explained.

    Returns:
        The report.
    """
    names = [*answers[0].probabilities]
    gold = np.array([[name in _names(example) for name in names] for example in examples])
    given = np.array([[name in answer.labels for name in names] for answer in answers])
    shares = np.array([[answer.probabilities[name] for name in names] for answer in answers])
    if request.label_columns:  # where the file has no class, nothing is right or wrong
        known = known_cells(gold, column_places(names))
        given, shares = given & known, np.where(known, shares, 0.0)
    unseen = np.array([not set(names).issuperset(_names(example)) for example in examples])
    whole = (gold == given).all(axis=1) & ~unseen
    summed = SummedRows(examples, request.explain_roughly, seconds)
    words = {name: summed.top(name, WORDS) for name in names}
    suspects, off = _suspects(gold, shares), np.abs(shares - gold)
    both = (gold & given).sum()
    f1 = 2 * both / max(1, gold.sum() + given.sum())
    interval = accuracy_interval(int(whole.sum()), len(whole))

    def facts(place: int, k: int) -> str:
        row, labels = examples[place].row, ", ".join(_names(examples[place])) or "no label"
        return f"row {row:,}: labeled {labels}; {names[k]} has {percent(float(shares[place, k]))}"

    return Overview(
        request.name,
        source,
        f"{counted(float(whole.mean()))} have exactly their labels",
        f"of {len(gold):,} rows; 95 % interval {100 * interval.low:.1f} to {100 * interval.high:.1f} %; F1 of all "
        f"labels {f1:.3f}",
        examples,
        filled(
            Section(
                "labels",
                "Labels",
                "Precision: of the rows that get the label, the share that has it. Recall: of the rows that have it, "
                "the share that gets it. F1 is their harmonic mean.",
                (_scores(names, gold, given),),
            ),
            Section(
                "words",
                "Words and phrases",
                f"Mean contributions to the log-odds of the label, in those of {summed.sums.texts:,} explained rows "
                "where the word stands; strong and frequent words come first. Words that matter together are one "
                "phrase.",
                (Words({name: found for name, found in words.items() if found}),)
                if any(words.values())
                else (),
            ),
            Section(
                "confusions",
                "What is missed and what is added",
                "Rows that lack a label which the file has, and rows with one that it does not have; the surest of "
                "each kind are shown.",
                tuple(_confusions(names, gold, given, off, facts)),
            ),
            Section(
                "mistakes",
                "Surest mistakes",
                "The wrong decisions whose probabilities are farthest off, or the wrong labels; blue words speak for "
                "the label, orange ones against it.",
                _mistakes(request, names, examples, gold != given, off, facts),
            ),
            Section(
                "slices",
                "Slices",
                "Parts of the rows, the weakest first. Weak: the whole 95 % interval lies below the share of all rows. "
                "Where many are looked at, some are weak by chance.",
                slice_table(examples, answers, whole, read),
            ),
            Section(
                "calibration",
                "Calibration",
                "Whether probabilities are true: of the labels that have 80 %, 80 % should be in the file. Every label "
                "of every row counts.",
                calibration_table(shares.reshape(-1), gold.reshape(-1), "labels"),
            ),
            Section(
                "suspects",
                "Suspect labels",
                f"{len(suspects):,} labels are suspect: one that is there is improbable, or one that is missing as "
                "probable as it usually is where it stands. The model may be wrong as well; a person has to decide.",
                (Texts(tuple(ShownRow(place, facts(place, k)) for place, k in suspects[:SUSPECTS])),)
                if suspects
                else (),
            ),
        ),
        {
            "exact": float(whole.mean()),
            "f1": float(f1),
            "explained": summed.sums.texts,
            "suspected": len(suspects),
        },
    )


def _names(example: Example) -> tuple[str, ...]:
    target = example.target
    return target.names if isinstance(target, LabelSet) else (str(target),)


def _scores(names: Sequence[str], gold: Bools, given: Bools) -> Table:
    rows = []
    for k in by_rows(gold.sum(axis=0).tolist()):
        both, own, got = int((gold & given)[:, k].sum()), int(gold[:, k].sum()), int(given[:, k].sum())
        precision, recall = both / max(1, got), both / max(1, own)
        figures = (precision, recall, 2 * both / max(1, own + got))
        rows.append((names[k], *score_cells(own, *figures), f"{own:,}"))
    return Table(("label", "precision", "recall", "F1", "rows"), tuple(rows))


def _confusions(
    names: Sequence[str], gold: Bools, given: Bools, off: NDArray[np.float64], facts: Facts
) -> list[Texts]:
    kinds = [
        (f"{name} {what}: {int(wrong[:, k].sum()):,}", np.flatnonzero(wrong[:, k]), k)
        for what, wrong in (("missed", gold & ~given), ("added", given & ~gold))
        for k, name in enumerate(names)
    ]
    kinds = sorted((each for each in kinds if len(each[1])), key=lambda each: -len(each[1]))[:PAIRS]
    return [
        Texts(tuple(ShownRow(place, facts(place, k)) for place in _surest(places, off[:, k])[:TEXTS]), title)
        for title, places, k in kinds
    ]


def _surest(places: NDArray[np.int64], off: NDArray[np.float64]) -> list[int]:
    order: list[int] = places[np.argsort(-off[places], kind="stable")].tolist()
    return order


def _mistakes(
    asked: GlanceRequest,
    names: Sequence[str],
    examples: Sequence[Example],
    wrong: Bools,
    off: NDArray[np.float64],
    facts: Facts,
) -> tuple[Texts, ...]:
    places, columns = np.nonzero(wrong)
    order = np.argsort(-off[places, columns], kind="stable").tolist()
    found, seen = list[ShownRow](), set[tuple[tuple[str, ...], int]]()
    for n in order:
        place, k = int(places[n]), int(columns[n])
        if (examples[place].texts, k) in seen or asked.explain_part is None:
            continue
        seen.add((examples[place].texts, k))
        found.append(ShownRow(place, facts(place, k), asked.explain_part(examples[place], names[k], "")))
        if len(found) == MISTAKES:
            break
    return (Texts(tuple(found)),) if found else ()


def _suspects(gold: Bools, shares: NDArray[np.float64]) -> list[tuple[int, int]]:
    found = defaultdict[float, list[tuple[int, int]]](list)
    for k in range(gold.shape[1]):
        both, own = np.stack([1 - shares[:, k], shares[:, k]], axis=1), gold[:, k].astype(np.int64)
        for place in rank_suspects(both, own).tolist():
            found[float(both[place, own[place]])].append((place, k))
    return [each for share in sorted(found) for each in found[share]]
