"""What an evaluation found, as a record, as lines for a terminal, and as HTML tables for a notebook.

The HTML has no style sheet and no script, and all text in it is escaped.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation.calibration import Calibration
from heedful.evaluation.significance import Interval, accuracy_interval, bootstrap_interval
from heedful.evaluation.statistics import Statistic
from heedful.tables import figure, in_one_line, table_html

RESAMPLES = 1_000
"""Of the intervals in a report: another seed moves an end by about a fortieth of the width."""
MOST_CLASSES, SHOWN_CLASSES = 50, 20
"""So many classes have a row each on a terminal; of more than that, so many have one."""
_SINGLE_ANSWERS = ("gold", "predicted", "times", "statistics", "resampling")
Groups = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Report:
    """What an evaluation found.

    Attributes:
        count: number of examples with gold.
        metrics: metric name to value.
        by_group: metrics of each group (genre, phenomenon), and its size under "count"; empty without groups.
        per_class: for each class its gold count, precision, recall and F1; empty for scores.
        confusion: gold class to predicted class to count; of over 200 classes only what is not 0; empty for scores.
        seconds: time the predictions took.
        notes: counts of texts that deserve attention: empty texts, unknown words, truncated texts.
        gold: class numbers or scores, [N], in the order of the examples; not part of `as_dict`.
        predicted: predicted class numbers or scores, [N], in the same order.
        by_length: metrics of each bin of sentence lengths, as in `by_group`; see `heedful.evaluation.metrics`.
        calibration: how well confidences match accuracy; None if predictions have no confidences.
        statistics: the metrics that gold and predicted can be resampled for; not part of `as_dict`.
        signatures: name of a metric to the signature of the library that computed it (sacreBLEU).
        resampling: computes the interval of each metric except accuracy; see `heedful.evaluation.significance`.
        times: how often each row of gold and predicted occurs, [N], where the examples were counted and not kept; None
            where each row is one example.
    """

    count: int
    metrics: dict[str, float]
    by_group: Groups = field(default_factory=dict)
    per_class: Groups = field(default_factory=dict)
    confusion: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: float = 0.0
    notes: dict[str, int] = field(default_factory=dict)
    gold: NDArray[np.generic] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    predicted: NDArray[np.generic] = field(default_factory=lambda: np.empty(0), repr=False, compare=False)
    by_length: Groups = field(default_factory=dict)
    calibration: Calibration | None = None
    statistics: Mapping[str, Statistic] = field(default_factory=dict, repr=False, compare=False)
    signatures: dict[str, str] = field(default_factory=dict)
    resampling: Callable[..., Interval] = field(default=bootstrap_interval, repr=False, compare=False)
    times: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """The 95 % interval of each metric over examples: Wilson's for accuracy, else by resampling."""
        if self.count < 2:
            return {}
        return {name: self._interval(name, statistic) for name, statistic in self.statistics.items()}

    def figures(self) -> dict[str, float]:
        """Return the metrics and, where confidences were measured, "ece"."""
        return {**self.metrics, **({"ece": self.calibration.after.ece} if self.calibration else {})}

    def as_dict(self) -> dict[str, object]:
        """Return every figure as plain values for JSON; the single answers are left out."""
        plain = {
            name: value for name, value in vars(self).items() if name not in (*_SINGLE_ANSWERS, "intervals")
        }
        plain["calibration"] = self.calibration.as_dict() if self.calibration else None
        plain["intervals"] = {name: asdict(interval) for name, interval in self.intervals.items()}
        return plain

    def render(self) -> str:
        """Return the report as lines for a terminal."""
        return render(self)

    def brief(self) -> str:
        """Return the metrics in a few words."""
        return " ".join(f"{name} {figure(value)}" for name, value in self.metrics.items())

    def __repr__(self) -> str:
        return f"Report({self.brief()}; {self.count:,} examples)"

    def _repr_html_(self) -> str:
        """Return the report as tables, which is how a notebook shows it."""
        return report_html(self)

    def _interval(self, name: str, statistic: Statistic) -> Interval:
        if name == "accuracy":
            return accuracy_interval(self._right(), self.count)
        counted = {} if self.times is None else {"times": self.times}
        return self.resampling(statistic, self.gold, self.predicted, resamples=RESAMPLES, **counted)

    def _right(self) -> int:
        right = self.gold == self.predicted
        return int(right.sum() if self.times is None else self.times[right].sum())


def render(report: Report) -> str:
    """Write the metrics with their intervals, the classes, the groups, the calibration error and the notes.

    Returns the lines.
    """
    lines = [f"{_headline(report)}  ({report.count:,} examples, {report.seconds:.1f} s)"]
    if report.per_class:
        lines += _classes(report)
    if report.by_group:
        lines += _groups(report.by_group, "group", next(iter(report.metrics)))
    if report.calibration is not None:
        lines.append(_calibration(report))
    if report.intervals:
        lines.append("[ ]: 95 % intervals over examples, " + _methods(report))
    lines += [f"{name}: {signature}" for name, signature in report.signatures.items()]
    return "\n".join([*lines, *(f"{count:,} {what}" for what, count in report.notes.items() if count)])


def render_lengths(report: Report) -> str:
    """Write the first metric by sentence length.

    Returns the lines; a pair counts as its longer text.
    """
    return "\n".join(_groups(report.by_length, "tokens", next(iter(report.metrics))))


def render_reliability(report: Report) -> str:
    """Write confidence against accuracy, bin by bin.

    Returns the lines; one that says so where an answer has no confidence.
    """
    if report.calibration is None:
        return "calibration: the answers have no confidences"
    found = report.calibration
    lines = [
        f"calibration: temperature {found.temperature:.3f}; "
        f"ECE {found.before.ece:.4f} without it, {found.after.ece:.4f} with it; "
        f"negative log-likelihood {found.before.nll:.4f}, {found.after.nll:.4f}",
        "confidence     mean  accuracy   count",
    ]
    lines += [
        f"{part.low:.2f} to {part.high:.2f}  {part.confidence:5.3f}     {part.accuracy:5.3f} {part.count:7,}"
        for part in found.after.bins
    ]
    return "\n".join(lines)


def render_confusion(report: Report) -> str:
    """Write the confusion matrix, a row for each gold class; classes are numbered along the top.

    Returns the lines; of more than 50 classes a list of the most frequent confusions, for no line holds so many cells;
    and one line that says so where there are no classes.
    """
    if not report.confusion:
        return "confusion: the answers are no classes"
    if len(report.confusion) > MOST_CLASSES:
        return _confused_pairs(report.confusion)
    names = [f"{number} {in_one_line(name)}" for number, name in enumerate(report.confusion, start=1)]
    cells = [[row.get(name, 0) for name in report.confusion] for row in report.confusion.values()]
    width = max(5, len(f"{report.count:,}") + 1)
    side = max(len(name) for name in [*names, "gold, predicted:"])
    lines = [f"{'gold, predicted:':<{side}}" + "".join(f"{k:>{width}}" for k in range(1, len(names) + 1))]
    lines += [
        f"{name:<{side}}" + "".join(f"{cell:>{width},}" for cell in row)
        for name, row in zip(names, cells, strict=True)
    ]
    return "\n".join(lines)


def _confused_pairs(confusion: Mapping[str, Mapping[str, int]]) -> str:
    """List the classes that are taken for one another most often."""
    pairs = [
        (-n, gold, other)
        for gold, row in confusion.items()
        for other, n in row.items()
        if n and gold != other
    ]
    shown = sorted(pairs)[:MOST_CLASSES]
    width = max(len(in_one_line(name)) for name in ["gold", *(gold for _, gold, _ in shown)])
    lines = [
        f"{in_one_line(gold):<{width}} {-count:>7,}  {in_one_line(other)}" for count, gold, other in shown
    ]
    more = f"the {len(shown)} of {len(pairs):,} confusions that are most frequent; --json prints all"
    return "\n".join(
        [f"{'gold':<{width}} {'times':>7}  predicted", *lines, *([more] if len(shown) < len(pairs) else [])]
    )


def _headline(report: Report) -> str:
    intervals = {name: f" {interval}" for name, interval in report.intervals.items()}
    return "  ".join(
        f"{name} {figure(value)}{intervals.get(name, '')}" for name, value in report.metrics.items()
    )


def _methods(report: Report) -> str:
    methods: dict[str, list[str]] = {}
    for name, interval in report.intervals.items():
        methods.setdefault(interval.method, []).append(name)
    if len(methods) == 1:
        return next(iter(methods))
    return "; ".join(f"{' and '.join(names)}: {method}" for method, names in methods.items())


def _classes(report: Report) -> list[str]:
    """Write a row a class; of very many, where rows would hide what stands above them, those with the most mistakes."""
    shown, most = report.per_class, [""] * len(report.per_class)
    if len(shown) > MOST_CLASSES:
        mistakes = _mistakes(report.confusion)
        wrong = {name: mistakes[name].total() or _wrong(row) for name, row in report.per_class.items()}
        names = sorted(shown, key=lambda name: -wrong[name])[:SHOWN_CLASSES]
        shown = {name: shown[name] for name in names}
        most = [_most_often(mistakes[name]) for name in names]
    width = max(len("class"), *(len(in_one_line(name)) for name in shown))
    lines = [f"{'class':<{width}}  precision  recall      F1   count"]
    for (name, cells), confused in zip(_cells_of(shown), most, strict=True):
        precision, recall, f1, count = cells
        lines.append(f"{name:<{width}}  {precision:>9} {recall:>7} {f1:>7} {count:>7}{confused}")
    if len(shown) < len(report.per_class):
        lines[0] += "  most often confused with" if any(most) else ""
        lines.append(
            f"the {len(shown)} of {len(report.per_class):,} classes with the most mistakes; --json prints all, and "
            "`per_class` has them in Python"
        )
    return lines


def _wrong(row: Mapping[str, float]) -> int:
    """Count the mistakes about a class: where it was missed, and where it was predicted and is not."""
    found = row["count"] * row["recall"]
    return round(row["count"] - found + (found / row["precision"] - found if row["precision"] else 0))


def _mistakes(confusion: Mapping[str, Mapping[str, int]]) -> defaultdict[str, Counter[str]]:
    """Count for each class how often another one was predicted in its place, or it in place of another."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for gold, row in confusion.items():
        for predicted, count in row.items():
            if predicted != gold and count:
                found[gold][predicted] += count
                found[predicted][gold] += count
    return found


def _most_often(mistakes: Counter[str]) -> str:
    return "".join(f"  {in_one_line(name)} ({count:,})" for name, count in mistakes.most_common(1))


def _cells_of(classes: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each class with what its row shows; a class that no example has cannot be found, well or badly."""
    for name, row in classes.items():
        values = (f"{row[key]:.3f}" if row["count"] else "-" for key in ("precision", "recall", "f1"))
        yield in_one_line(name), (*values, f"{int(row['count']):,}")


def _groups(groups: Mapping[str, Mapping[str, float]], what: str, key: str) -> list[str]:
    """Write one line a group; an accuracy has its 95 % interval, since groups may be small."""
    width = max(len(what), *(len(in_one_line(name)) for name in groups))
    is_share = key == "accuracy"
    head = f"{what:<{width}}  {key:>9}   count" + ("  95 % interval" if is_share else "")
    lines = [head]
    for name, row in groups.items():
        count = int(row["count"])
        interval = f"  {accuracy_interval(round(row[key] * count), count)}" if is_share else ""
        lines.append(f"{in_one_line(name):<{width}}  {row[key]:9.4f} {count:7,}{interval}")
    return lines


def _calibration(report: Report) -> str:
    assert report.calibration is not None  # the caller asks
    found = report.calibration
    if found.temperature == 1.0:
        return f"ECE {found.after.ece:.4f}"
    return (
        f"ECE {found.after.ece:.4f} at temperature {found.temperature:.3f} ({found.before.ece:.4f} without)"
    )


def report_html(report: Report, title: str = "") -> str:
    """Write the metrics with their intervals, the classes, the calibration error and the notes.

    Returns a fragment of HTML.
    """
    intervals = report.intervals
    figures = [[name, figure(value), str(intervals.get(name, ""))] for name, value in report.metrics.items()]
    if report.calibration is not None:
        figures.append(["ece", f"{report.calibration.after.ece:.4f}", ""])
    parts = [f"<h4>{escape(title)}</h4>"] if title else []
    parts.append(table_html(["metric", "value", "95 % interval"], figures))
    if report.per_class:
        rows = [[name, *cells] for name, cells in _cells_of(report.per_class)]
        parts.append(table_html(["class", "precision", "recall", "F1", "count"], rows))
    notes = [f"{count:,} {what}" for what, count in report.notes.items() if count]
    parts.append(f"<p>{escape('; '.join([f'{report.count:,} examples', *notes]))}</p>")
    return "<div>" + "".join(parts) + "</div>"
