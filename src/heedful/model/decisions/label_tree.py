"""Classes whose names are paths, such as "sport/football": the probability of a parent is the sum of its children's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.model.answers import Answer, ShownAnswer, ShownTree
from heedful.model.decisions.decision import Shares


@dataclass(frozen=True)
class LabelTree:
    """The tree that the names of classes make.

    A class may be a parent too: "sport" beside "sport/football" has the texts of sport that fit none of its children,
    and the parent "sport" has both.

    Attributes:
        labels: the names of the classes.
        separator: what stands between the levels of a name.
        at_least: the probability that an answer must have: it is the deepest node of the path of likeliest children
            that reaches it, or the likeliest node of the first level where none does. None answers the class.

    Raises:
        UsageError: if there is no separator, no name has it, a level has no name, or the share is out of range.
    """

    labels: tuple[str, ...]
    separator: str
    at_least: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.separator, str) or not self.separator:
            got = f"{self.separator!r:.40}" if self.separator != "" else "an empty text"
            raise UsageError(f"tree: expected what separates the levels of a class, such as /; got {got}")
        if not any(self.separator in label for label in self.labels):
            raise UsageError(
                f"tree: no class of this model has {self.separator!r:.40} in its name; expected names such as "
                "sport/football and the separator of their levels, such as /"
            )
        for label in self.labels:
            if self.separator in label and not all(map(str.strip, label.split(self.separator))):
                raise UsageError(
                    f"tree: the class {label!r:.80} has a level without a name; write one on each side of every "
                    f"{self.separator!r:.40}, as in sport/football, or choose another separator"
                )
        known = isinstance(self.at_least, int | float) and not isinstance(self.at_least, bool)
        if self.at_least is not None and not (known and 0 < self.at_least <= 1):
            raise UsageError(
                f"at least: expected a probability above 0, at most 1; got {self.at_least!r:.40}"
            )

    @cached_property
    def depth(self) -> int:
        """Levels of the deepest class."""
        return max(label.count(self.separator) for label in self.labels) + 1

    def node(self, label: str, level: int) -> str:
        """Return the node of a class at a level from 1: the class itself where it has fewer levels."""
        return self.separator.join(label.split(self.separator)[:level])

    def nodes(self, level: int) -> tuple[str, ...]:
        """Return the nodes of a level, in the order of the classes; classes of fewer levels are among them."""
        return self._levels[level - 1][0]

    def shares(self, probabilities: Shares, level: int) -> Shares:
        """Return the probabilities of the nodes of a level, [N, nodes], for those of the classes, [N, Y]."""
        names, places = self._levels[level - 1]
        found = [
            np.bincount(places, own, len(names)) for own in probabilities
        ]  # no row depends on the others
        return np.array(found, np.float64).reshape(len(probabilities), len(names))

    @cached_property
    def _levels(self) -> list[tuple[tuple[str, ...], NDArray[np.int64]]]:
        """Of each level the nodes, and the node of each class, [Y]."""
        found = []
        for level in range(1, self.depth + 1):
            nodes = [self.node(label, level) for label in self.labels]
            place = {name: number for number, name in enumerate(dict.fromkeys(nodes))}
            found.append((tuple(place), np.array([place[name] for name in nodes], np.int64)))
        return found

    @cached_property
    def _parents(self) -> frozenset[str]:
        paths = [label.split(self.separator) for label in self.labels]
        return frozenset(self.separator.join(path[:level]) for path in paths for level in range(1, len(path)))

    def stop(self, own: NDArray[np.float64]) -> tuple[str, float]:
        """Return the node that is answered for the probabilities of the classes, [Y], and its probability."""
        path: list[tuple[str, float]] = []
        for level in range(1, self.depth + 1):
            shares = dict(zip(self.nodes(level), self.shares(own[None], level)[0].tolist(), strict=True))
            inside = [name for name in shares if not path or self._is_below(name, path[-1][0])]
            best = max(inside, key=shares.__getitem__)
            if path and (shares[best] < (self.at_least or 0.0) or best == path[-1][0]):
                break
            path.append((best, shares[best]))
        return path[-1]

    def _is_below(self, name: str, parent: str) -> bool:
        return name == parent or name.startswith(parent + self.separator)

    @cached_property
    def parents(self) -> dict[str, list[int]]:
        """Of each parent the numbers of the classes below it, and its own where it is a class, level by level."""
        found: dict[str, list[int]] = {}
        for level in range(1, self.depth):
            names, places = self._levels[level - 1]
            for number, name in enumerate(names):
                if name.count(self.separator) == level - 1 and name in self._parents:
                    found[name] = np.flatnonzero(places == number).tolist()
        return found

    def table(self) -> dict[str, object]:
        """Return plain values for a file that answers by itself."""
        return {"separator": self.separator, "at_least": self.at_least, "parents": self.parents}

    def add(self, answer: Answer) -> Answer:
        """Return an answer with the probabilities of all parents, and where that is asked for the node where it stops.

        An answer that no class fits stays as it is.
        """
        own = np.array([answer.probabilities[label] for label in self.labels])
        parents = {name: float(own[below].sum()) for name, below in self.parents.items()}
        if self.at_least is None or answer.label not in self.labels:
            return replace(answer, parents=parents)
        return replace(answer, label=self.stop(own)[0], parents=parents)

    def shown(self, shown: ShownAnswer) -> ShownAnswer:
        """Return an answer of classes, as an explanation shows it, with the node that is answered; see `add`."""
        answered = shown.labels[shown.best]
        if self.at_least is not None:
            answered = self.stop(np.array(shown.probabilities))[0]
        return replace(shown, tree=ShownTree(self.parents, answered, self.at_least))


def tree_of(labels: Sequence[str], costs: Shares | None, separator: str, at_least: float | None) -> LabelTree:
    """Return the tree of a model of classes.

    Args:
        labels: its classes, which are paths.
        costs: of wrong answers; None where they all count alike.
        separator: between the parts of a path.
        at_least: the probability at which an answer stops; None for the last level.

    Returns:
        The tree.

    Raises:
        UsageError: see `LabelTree`; or if an answer is to stop by its probability and wrong answers have costs.
    """
    if at_least is not None and costs is not None:
        raise UsageError("at least: this model answers by the costs of wrong answers and not by probability")
    return LabelTree(tuple(labels), separator, at_least)
