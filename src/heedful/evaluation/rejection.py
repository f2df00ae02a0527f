"""How well a model tells texts that fit no class from those that it knows, and what is right of those that it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from heedful.data.examples import Example
from heedful.model.answers import Answer, AnyAnswer

_POINTS = 100


@dataclass(frozen=True)
class RejectFigures:
    """What was found of answers of a model that may answer that no class fits.

    Attributes:
        label: what it answers then.
        known: texts of its classes.
        strangers: texts whose label is none of its classes.
        auroc: how often a stranger is more unlike the training texts than a known text; None without both.
        accuracy: of known texts, if a class is always answered.
        accuracy_with_rejecting: of known texts, as the model answers: a text that is rejected is wrong.
        kept: share of known texts that are answered with a class.
        accuracy_of_kept: of known texts that are answered with a class.
        recall: share of strangers that are rejected; None without strangers.
        curve: risk-coverage curve over all texts: the share of texts that are kept, the least unlike first, and the
            share of these whose class is wrong; strangers have no right class.
    """

    label: str
    known: int
    strangers: int
    auroc: float | None
    accuracy: float
    accuracy_with_rejecting: float
    kept: float
    accuracy_of_kept: float
    recall: float | None
    curve: tuple[tuple[float, float], ...]

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)

    def render(self) -> str:
        """Return the figures as lines for a terminal."""
        auroc = "" if self.auroc is None else f"  AUROC {self.auroc:.4f}"
        lines = [
            f"{self.label}{auroc}  ({self.known:,} texts of its classes, {self.strangers:,} of none)",
            f"  of its classes: kept {self.kept:.4f}, accuracy {self.accuracy_with_rejecting:.4f}, of what is kept "
            f"{self.accuracy_of_kept:.4f}, if always answered {self.accuracy:.4f}",
        ]
        if self.recall is not None:
            lines.append(f"  of none: recognized {self.recall:.4f}")
        points = [self.curve[int(share * (len(self.curve) - 1))] for share in (0.25, 0.5, 0.75, 1.0)]
        lines.append(
            "  risk when only the least unlike are kept: "
            + ", ".join(f"{risk:.4f} of {share:.0%}" for share, risk in points)
        )
        return "\n".join(lines)


def auroc(known: np.ndarray, strangers: np.ndarray) -> float:
    """Return how often a stranger's score is above a known text's; ties count half."""
    both = np.concatenate([known, strangers])
    _, codes, counts = np.unique(both, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[codes]
    above = ranks[len(known) :].sum() - len(strangers) * (len(strangers) + 1) / 2
    return float(above / (len(known) * len(strangers)))


def reject_figures(
    label: str, labels: Sequence[str], answers: Sequence[AnyAnswer], examples: Sequence[Example]
) -> RejectFigures:
    """Compare answers with gold, where gold that is no class of the model stands for a text that fits none.

    Args:
        label: what the model answers to a text that fits no class.
        labels: its classes.
        answers: one an example.
        examples: with gold; those without are left out.

    Returns:
        The figures.
    """
    rows = [
        (answer, str(each.target))
        for answer, each in zip(answers, examples, strict=True)
        if each.target is not None and isinstance(answer, Answer) and answer.unlike is not None
    ]
    unlike = np.array([float(answer.unlike or 0.0) for answer, _ in rows])
    gold = [name for _, name in rows]
    known = np.array([name in set(labels) for name in gold], bool)
    rejected = np.array([answer.label == label for answer, _ in rows], bool)
    likeliest = [max(answer.probabilities, key=answer.probabilities.__getitem__) for answer, _ in rows]
    right = np.array([a == b for a, b in zip(likeliest, gold, strict=True)], bool)
    answered = np.array([answer.label == name for (answer, name) in rows], bool)
    order = np.argsort(unlike, kind="stable")
    risks = np.cumsum(~right[order]) / np.arange(1, len(rows) + 1)
    places = (
        np.unique(np.linspace(0, max(0, len(rows) - 1), _POINTS + 1).astype(int)).tolist() if rows else []
    )
    curve = tuple(((place + 1) / len(rows), float(risks[place])) for place in places)

    def mean(flags: np.ndarray) -> float:
        return float(flags.mean()) if len(flags) else 0.0

    both = bool(known.any() and not known.all())
    return RejectFigures(
        label,
        int(known.sum()),
        int((~known).sum()),
        auroc(unlike[known], unlike[~known]) if both else None,
        mean(right[known]),
        mean(answered[known]),
        mean(~rejected[known]),
        mean(right[known & ~rejected]),
        None if known.all() else mean(rejected[~known]),
        curve,
    )
