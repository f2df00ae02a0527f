"""The reports on answers that are sequences: semantic roles, tags of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.metrics import NAMES, classification_metrics, length_bins
from heedful.evaluation.report import evaluate_classes, figures_by_group
from heedful.evaluation.report_text import Groups, Report
from heedful.evaluation.role_counts import PREDICATE, FrameOutcome, RoleCounts, RoleScores
from heedful.evaluation.statistics import STATISTICS, pack_frames
from heedful.text.bio import OUTSIDE, Span, scheme_of, spans_of


def evaluate_roles(
    outcomes: Sequence[FrameOutcome],
    predicates: RoleCounts,
    *,
    groups: Sequence[str] = (),
    lengths: NDArray[np.int64] | None = None,
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
) -> Report:
    """Report on labeled frames.

    Args:
        outcomes: of each predicate of the gold, [N].
        predicates: how many words were found to be predicates.
        groups: group of each predicate's sentence, [N]; empty for none.
        lengths: words of each predicate's sentence, [N, 1]; None leaves the figures by length out.
        seconds: time the answers took.
        notes: counts to print below the figures.

    Returns:
        The report: "f1", "precision", "recall" and "complete" of the arguments of given predicates, and
        "predicate_f1" of finding the predicates. Examples are predicates.
    """
    scores = RoleScores.of(outcomes)
    by_role = sorted(scores.by_role.items(), key=lambda item: (item[0] == PREDICATE, item[0]))
    gold, answered = pack_frames([outcome.counts for outcome in outcomes])
    by_length = {} if lengths is None else _by_group(outcomes, length_bins(lengths))
    return Report(
        len(outcomes),
        {**scores.metrics(), "predicate_f1": predicates.f1},
        _by_group(outcomes, groups),
        {f"{role} (not counted)" if role == PREDICATE else role: _row(counts) for role, counts in by_role},
        seconds=seconds,
        notes=notes or {},
        gold=gold,
        predicted=answered,
        by_length={name: by_length[name] for name in NAMES if name in by_length},
        statistics={name: STATISTICS[name] for name in scores.metrics()},
    )


def evaluate_tags(
    gold: Sequence[Sequence[str]],
    answered: Sequence[Sequence[str]],
    labels: Sequence[str],
    *,
    groups: Sequence[str] = (),
    lengths: NDArray[np.int64] | None = None,
    seconds: float = 0.0,
    notes: dict[str, int] | None = None,
) -> Report:
    """Report on tagged words.

    Args:
        gold: the tags of each sentence, [N].
        answered: likewise what was answered, of the same lengths.
        labels: all tags; they decide whether spans are counted (`heedful.text.bio.scheme_of`).
        groups: group of each sentence, [N]; empty for none.
        lengths: words of each sentence, [N, 1]; None leaves the figures by length out.
        seconds: time the answers took.
        notes: counts to print below the figures.

    Returns:
        Of plain tags a report on words: "accuracy", "macro_f1" and "f1", the micro average over all tags but O, which
        says of a word that it is nothing. Without O among the tags "f1" is the accuracy.
        Of spans a report on sentences: "f1", "precision" and "recall" of whole spans, as the package seqeval counts
        them, and the "accuracy" of the tags.
    """
    bins = [] if lengths is None else length_bins(lengths)
    if scheme_of(labels) == "plain":
        number = {tag: place for place, tag in enumerate(labels)}
        sizes = [len(tags) for tags in gold]
        first, second = (
            np.array([number[t] for tags in part for t in tags], np.int64) for part in (gold, answered)
        )
        report = evaluate_classes(
            first,
            second,
            labels,
            groups=[name for name, size in zip(groups, sizes, strict=False) for _ in range(size)],
            lengths=None if lengths is None else np.repeat(lengths, sizes, axis=0),
            seconds=seconds,
            notes=notes,
        )
        return replace(
            report, metrics={**report.metrics, "f1": _f1_of_words(first, second, number.get(OUTSIDE, -1))}
        )
    spans = [(set(spans_of(own)), set(spans_of(other))) for own, other in zip(gold, answered, strict=True)]
    counts = [RoleCounts(len(a & b), len(b - a), len(a - b)) for a, b in spans]
    right = [sum(a == b for a, b in zip(*pair, strict=True)) for pair in zip(gold, answered, strict=True)]
    size = [len(tags) for tags in gold]

    def figures(here: NDArray[np.bool_]) -> dict[str, float]:
        chosen = np.flatnonzero(here)
        total = sum((counts[row] for row in chosen), RoleCounts())
        words = sum(size[row] for row in chosen)
        accuracy = sum(right[row] for row in chosen) / words if words else 0.0
        return {"f1": total.f1, "precision": total.precision, "recall": total.recall, "accuracy": accuracy}

    packed = (
        pack_frames(counts) if max(map(len, (s for pair in spans for s in pair)), default=0) < 1000 else None
    )
    by_length = figures_by_group(bins, figures, len(gold))
    return Report(
        len(gold),
        figures(np.ones(len(gold), bool)),
        figures_by_group(groups, figures, len(gold)),
        {role: _row(own) for role, own in sorted(_by_role(spans).items())},
        seconds=seconds,
        notes=notes or {},
        gold=np.empty(0) if packed is None else packed[0],
        predicted=np.empty(0) if packed is None else packed[1],
        by_length={name: by_length[name] for name in NAMES if name in by_length},
        statistics={}
        if packed is None
        else {name: STATISTICS[name] for name in ("f1", "precision", "recall")},
    )


def tag_metrics(
    gold: Sequence[Sequence[str]],
    answered: Sequence[Sequence[str]],
    labels: Sequence[str],
    weights: NDArray[np.floating],
) -> dict[str, float]:
    """Compute the metrics of `evaluate_tags`, each sentence counting by its own weight.

    Args:
        gold: the tags of each sentence, [N].
        answered: likewise what was answered.
        labels: all tags.
        weights: of each sentence, [N].

    Returns:
        The metrics by name.
    """
    sizes = [len(tags) for tags in gold]
    each = np.repeat(np.asarray(weights, np.float64), sizes)
    number = {tag: place for place, tag in enumerate(labels)}
    first, second = (
        np.array([number[t] for tags in part for t in tags], np.int64) for part in (gold, answered)
    )
    right = first == second
    if scheme_of(labels) == "plain":
        outside = number.get(OUTSIDE, -1)
        hits = each @ (right & (first != outside))
        found, wanted = each @ (second != outside), each @ (first != outside)
        return {**classification_metrics(first, second, each), "f1": _ratio(2 * hits, found + wanted)}
    spans = [(set(spans_of(own)), set(spans_of(other))) for own, other in zip(gold, answered, strict=True)]
    hits, wanted, found = (
        float(np.dot(weights, [count(a, b) for a, b in spans]))
        for count in (lambda a, b: len(a & b), lambda a, _: len(a), lambda _, b: len(b))
    )
    return {
        "f1": _ratio(2 * hits, found + wanted),
        "precision": _ratio(hits, found),
        "recall": _ratio(hits, wanted),
        "accuracy": _ratio(float(each @ right), float(each.sum())),
    }


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _f1_of_words(gold: NDArray[np.int64], answered: NDArray[np.int64], outside: int) -> float:
    """Return the F1 of the words whose tag, or whose answer, is not the one of this number."""
    right = int(np.sum((gold == answered) & (gold != outside)))
    return RoleCounts(
        right, int(np.sum(answered != outside)) - right, int(np.sum(gold != outside)) - right
    ).f1


def _by_role(spans: Sequence[tuple[set[Span], set[Span]]]) -> dict[str, RoleCounts]:
    """Return the counts of the spans of each kind."""
    found: dict[str, RoleCounts] = {}
    for gold, answered in spans:
        parts = (
            (gold & answered, RoleCounts(1)),
            (answered - gold, RoleCounts(0, 1)),
            (gold - answered, RoleCounts(0, 0, 1)),
        )
        for span, one in ((span, one) for part, one in parts for span in part):
            found[span.role] = found.get(span.role, RoleCounts()) + one
    return found


def _row(counts: RoleCounts) -> dict[str, float]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "count": counts.correct + counts.missed,
    }


def _by_group(outcomes: Sequence[FrameOutcome], groups: Sequence[str]) -> Groups:
    found: dict[str, list[FrameOutcome]] = {}
    for outcome, name in zip(outcomes, groups, strict=False):  # there may be no groups
        found.setdefault(name, []).append(outcome)
    return {name: {**RoleScores.of(own).metrics(), "count": len(own)} for name, own in sorted(found.items())}
