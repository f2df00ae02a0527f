"""What is said of a whole model of tags: which it confuses, on which words, and what speaks for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heedful.data.examples import Example, WordTags
from heedful.errors import DataError, UsageError
from heedful.evaluation import accuracy_interval
from heedful.evaluation.metrics import class_scores
from heedful.model.answers import TagsAnswer
from heedful.run.glance.gathering import MISTAKES, PAIRS, SUSPECTS, TEXTS, WORDS, GlanceRequest
from heedful.run.glance.sections import Overview, Section, ShownRow, Table, Texts, Words, filled
from heedful.run.glance.shared_tables import by_rows, calibration_table, score_cells, slice_table
from heedful.run.important_words import SummedRows, of_one_word
from heedful.tables import counted, percent
from heedful.text.bio import spans_of

_SURE = 0.95
"""Probability from which a tag that contradicts the file makes it suspect."""


@dataclass(frozen=True)
class _Word:
    """One word of a row: its tag in the file, the tag that it got, and how probable that is."""

    row: int
    place: int
    word: str
    gold: str
    predicted: str
    share: float


@dataclass(frozen=True)
class _Read:
    """What `slices_of` looks at."""

    tokens: tuple[int, ...]
    unknown: int
    truncated: bool


def tags_at(
    request: GlanceRequest,
    examples: Sequence[Example],
    answers: Sequence[TagsAnswer],
    source: str,
    read: Sequence[str],
    seconds: float,
) -> Overview:
    """Return what is noticed of a model of tags.

    Args:
        request: the model.
        examples: sentences whose target is a tag for each word.
        answers: to each.
        source: what the rows are called.
        read: columns of the texts and the tags.
        seconds: after which no further text is explained.

    Returns:
        The report.

    Raises:
        DataError: if no sentence has words.
        UsageError: if the model does not explain the tag of a word.
    """
    words = [
        _Word(row, place, word, gold, tag, float(share))
        for row, (example, answer) in enumerate(zip(examples, answers, strict=True))
        for place, (word, gold, tag, share) in enumerate(
            zip(answer.words, _tags(example), answer.tags, answer.probabilities, strict=False)
        )
    ]
    if not words:
        raise DataError(f"{source}: no sentence has words")
    explain_part = request.explain_part
    if explain_part is None:
        raise UsageError(f"{request.name}: this model does not explain the tag of a word")
    wrong = sorted((each for each in words if each.gold != each.predicted), key=lambda each: -each.share)
    right, whole = len(words) - len(wrong), np.ones(len(examples), bool)
    whole[[each.row for each in wrong]] = False
    names = sorted({each.gold for each in words} | {each.predicted for each in words})
    summed = SummedRows(
        examples, of_one_word(lambda example, word: explain_part(example, "", word or "")), seconds
    )
    found = {name: summed.top(name, WORDS) for name in names}
    interval = accuracy_interval(right, len(words))
    suspects = [each for each in wrong if each.share >= _SURE]
    mistakes = tuple(
        ShownRow(each.row, _facts(each, examples), explain_part(examples[each.row], "", str(each.place + 1)))
        for each in _distinct(wrong)[:MISTAKES]
    )
    return Overview(
        request.name,
        source,
        f"{counted(right / len(words))} of the words have their tag",
        f"of {len(words):,} words in {len(examples):,} rows; 95 % interval {100 * interval.low:.1f} to "
        f"{100 * interval.high:.1f} %{_spans(examples, answers)}",
        examples,
        filled(
            Section(
                "tags",
                "Tags",
                "Precision: of the words that get the tag, the share that has it. Recall: of the words that have it, "
                "the share that gets it. F1 is their harmonic mean.",
                (_scores(words, names),),
            ),
            Section(
                "words",
                "Words and phrases",
                f"Mean contributions to the log-odds of the tag of one word, which was drawn in each of "
                f"{summed.sums.texts:,} explained rows: of the word itself and of those around it.",
                (Words({name: each for name, each in found.items() if each}),) if any(found.values()) else (),
            ),
            Section(
                "confusions",
                "What is confused",
                f"{len(wrong):,} words get another tag than in the file; the surest of each kind are shown.",
                _confusions(wrong, examples),
            ),
            Section(
                "mistakes",
                "Surest mistakes",
                "The wrong tags with the highest probability, or the wrong labels; colors say which words speak for "
                "the tag that the model gives.",
                (Texts(mistakes),) if mistakes else (),
            ),
            Section(
                "slices",
                "Slices",
                "Parts of the rows, the weakest first, by the share of sentences without a mistake. Weak: the whole "
                "95 % interval lies below that of all rows. Where many are looked at, some are weak by chance.",
                slice_table(
                    examples, [_Read((len(a.words),), a.unknown, a.truncated) for a in answers], whole, read
                ),
            ),
            Section(
                "calibration",
                "Calibration",
                "Whether probabilities are true: of the tags with 80 %, 80 % should be right.",
                calibration_table(
                    np.array([each.share for each in words]),
                    np.array([each.gold == each.predicted for each in words]),
                    "tags",
                ),
            ),
            Section(
                "suspects",
                "Suspect tags",
                f"{len(suspects):,} tags are suspect: the model gives another one at least {100 * _SURE:.0f} %. The "
                "model may be wrong as well; a person has to decide.",
                (Texts(tuple(_shown(each, examples) for each in suspects[:SUSPECTS])),) if suspects else (),
            ),
        ),
        {"accuracy": right / len(words), "explained": summed.sums.texts, "suspected": len(suspects)},
    )


def _tags(example: Example) -> tuple[str, ...]:
    return example.target.tags if isinstance(example.target, WordTags) else ()


def _spans(examples: Sequence[Example], answers: Sequence[TagsAnswer]) -> str:
    """Return the F1 of whole spans, where tags mark spans."""
    given = [{(span.role, span.start, span.end) for span in answer.spans} for answer in answers]
    if not any(given):
        return ""
    gold = [{(span.role, span.start, span.end) for span in spans_of(_tags(example))} for example in examples]
    both = sum(len(one & other) for one, other in zip(gold, given, strict=True))
    return f"; F1 of spans {2 * both / max(1, sum(map(len, gold)) + sum(map(len, given))):.3f}"


def _scores(words: Sequence[_Word], names: Sequence[str]) -> Table:
    number = {name: k for k, name in enumerate(names)}
    gold = np.array([number[each.gold] for each in words], np.int64)
    given = np.array([number[each.predicted] for each in words], np.int64)
    scores = class_scores(gold, given, np.arange(len(names)))
    counts = np.bincount(gold, minlength=len(names))
    rows = (
        (names[k], *score_cells(n, scores.precision[k], scores.recall[k], scores.f1[k]), f"{n:,}")
        for k, n in ((k, int(counts[k])) for k in by_rows(counts.tolist()))
    )
    return Table(("tag", "precision", "recall", "F1", "words"), tuple(rows))


def _facts(each: _Word, examples: Sequence[Example]) -> str:
    return f"row {examples[each.row].row:,}: {each.word} is {each.gold}, tagged {each.predicted} {percent(each.share)}"


def _shown(each: _Word, examples: Sequence[Example]) -> ShownRow:
    return ShownRow(each.row, _facts(each, examples), None, each.place)


def _distinct(wrong: Sequence[_Word]) -> list[_Word]:
    """Leave out what is the same word with the same tags."""
    return [*{(each.word, each.gold, each.predicted): each for each in reversed(wrong)}.values()][::-1]


def _confusions(wrong: Sequence[_Word], examples: Sequence[Example]) -> tuple[Texts, ...]:
    kinds = defaultdict[tuple[str, str], list[_Word]](list)
    for each in wrong:
        kinds[each.gold, each.predicted].append(each)
    most = sorted(kinds.items(), key=lambda kind: -len(kind[1]))[:PAIRS]
    return tuple(
        Texts(
            tuple(_shown(each, examples) for each in found[:TEXTS]),
            f"{gold} taken for {given}: {len(found):,}",
        )
        for (gold, given), found in most
    )
