"""How often sets of labels and intervals hold what is right, and how large they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from heedful.data.examples import Example, LabelSet
from heedful.model.answers import Answer, AnyAnswer, LabelsAnswer
from heedful.model.decisions import Promise


@dataclass(frozen=True)
class SetFigures:
    """What was found of answers with sets or intervals.

    Attributes:
        promised: how often a set is to hold what is right.
        coverage: how often it did; of several labels the mean share of a text's labels that its set had.
        size: mean number of labels of a set, or mean width of an interval.
        count: examples.
        by_class: of classes, for each class its count, coverage and mean size; else empty.
        sentence: what is promised, from which rows, and under which assumption.
    """

    promised: float
    coverage: float
    size: float
    count: int
    by_class: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sentence: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)

    def render(self) -> str:
        """Return the figures as lines for a terminal, with what the promise assumes."""
        lines = [
            f"sets  coverage {self.coverage:.4f} ({self.promised:.4g} asked for)  mean size {self.size:.4g}  "
            f"({self.count:,} examples)",
            self.sentence,
        ]
        if self.by_class:
            width = max(map(len, self.by_class))
            lines.append(f"  {'class':<{width}}   count  coverage  mean size")
            lines += [
                f"  {name:<{width}} {row['count']:7,.0f}  {row['coverage']:8.4f}  {row['size']:9.2f}"
                for name, row in self.by_class.items()
            ]
        return "\n".join(lines)


def set_figures(promise: Promise, answers: Sequence[AnyAnswer], examples: Sequence[Example]) -> SetFigures:
    """Compare sets or intervals with gold.

    Args:
        promise: what gave the answers their sets.
        answers: one an example.
        examples: with gold.

    Returns:
        The figures; examples without gold are left out.
    """
    known = [
        (answer, each.target)
        for answer, each in zip(answers, examples, strict=True)
        if each.target is not None
    ]
    found = [_held(answer, gold) for answer, gold in known]
    held, sizes = np.array([share for share, _ in found]), np.array([size for _, size in found])
    classes: dict[str, Mapping[str, float]] = {}
    if known and isinstance(known[0][0], Answer) and known[0][0].interval is None:
        names = np.array([str(gold) for _, gold in known])
        for name in sorted(set(names.tolist())):
            own = names == name
            row = {"coverage": float(held[own].mean()), "size": float(sizes[own].mean())}
            classes[name] = {"count": int(own.sum()), **row}
    coverage, size = (float(values.mean()) if len(known) else 0.0 for values in (held, sizes))
    return SetFigures(promise.wish.coverage, coverage, size, len(known), classes, promise.sentence())


def _held(answer: AnyAnswer, gold: object) -> tuple[float, float]:
    """Return the share of what is right that an answer holds, and how large it is."""
    if isinstance(answer, LabelsAnswer):
        own = set(answer.prediction_set or ())
        right = gold.names if isinstance(gold, LabelSet) else ()
        return (len(own.intersection(right)) / len(set(right)) if right else 1.0), float(len(own))
    assert isinstance(answer, Answer)  # tasks with other answers have no sets
    if answer.interval is not None:
        low, high = answer.interval
        return float(low <= float(str(gold)) <= high), high - low
    own = set(answer.prediction_set or ())
    return float(str(gold) in own), float(len(own))
