"""How well a model does at each level of the tree that its classes make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from heedful.data.examples import Example
from heedful.evaluation.metrics import classification_metrics
from heedful.model.answers import Answer
from heedful.model.decisions.label_tree import LabelTree


@dataclass(frozen=True)
class Level:
    """The figures of a level, from 1.

    Attributes:
        nodes: how many nodes it has; classes of fewer levels are among them.
        accuracy: share of texts whose likeliest node of this level is right.
        macro_f1: mean F1 of the nodes that occur.
    """

    nodes: int
    accuracy: float
    macro_f1: float


@dataclass(frozen=True)
class TreeFigures:
    """What was found at each level.

    Attributes:
        levels: from the first one.
        count: examples.
        at_least: the probability that an answer must have; None where answers are classes.
        right: with it, the share of answers that are the class or one of its parents; else None.
        stopped: with it, the share of answers of each level; else empty.
    """

    levels: tuple[Level, ...]
    count: int
    at_least: float | None = None
    right: float | None = None
    stopped: tuple[float, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)

    def render(self) -> str:
        """Return the figures as lines for a terminal."""
        lines = [f"levels of the tree  ({self.count:,} examples)"]
        for number, level in enumerate(self.levels, start=1):
            said = f"  level {number}  {level.nodes:5,} nodes  accuracy {level.accuracy:.4f}"
            said += f"  macro_f1 {level.macro_f1:.4f}"
            lines.append(said + (f"  stopped here {self.stopped[number - 1]:.4f}" if self.stopped else ""))
        if self.right is not None:
            lines.append(
                f"  answers of a probability of at least {self.at_least:.4g}: {self.right:.4f} are the class or one of "
                "its parents"
            )
        return "\n".join(lines)


def tree_figures(tree: LabelTree, answers: Sequence[Answer], examples: Sequence[Example]) -> TreeFigures:
    """Compare answers with gold at each level.

    Args:
        tree: what gave the answers their parents.
        answers: one an example.
        examples: with gold; a class that the model does not know is wrong at the levels whose node it does not know.

    Returns:
        The figures; examples without gold are left out.
    """
    known = [(a, str(e.target)) for a, e in zip(answers, examples, strict=True) if e.target is not None]
    shares = np.array([[a.probabilities[label] for label in tree.labels] for a, _ in known])
    levels = []
    for number in range(1, tree.depth + 1):
        nodes = tree.nodes(number)
        places = {name: place for place, name in enumerate(nodes)}
        gold = np.array(
            [places.setdefault(tree.node(own, number), len(places)) for _, own in known], np.int64
        )
        best = tree.shares(shares.reshape(-1, len(tree.labels)), number).argmax(axis=1)
        figures = classification_metrics(gold, best) if len(known) else {"accuracy": 0.0, "macro_f1": 0.0}
        levels.append(Level(len(nodes), figures["accuracy"], figures["macro_f1"]))
    if tree.at_least is None or not known:
        return TreeFigures(tuple(levels), len(known), tree.at_least)
    depth = [str(a.label).count(tree.separator) + 1 for a, _ in known]
    right = [f"{own}{tree.separator}".startswith(f"{a.label}{tree.separator}") for a, own in known]
    stopped = tuple(float(np.mean([each == level for each in depth])) for level in range(1, tree.depth + 1))
    return TreeFigures(tuple(levels), len(known), tree.at_least, float(np.mean(right)), stopped)
