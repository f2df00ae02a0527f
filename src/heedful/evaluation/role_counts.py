"""Arguments counted as the CoNLL-2005 shared task counts them (Carreras and Màrquez, 2005).

An argument is right if role and words are. The pieces of X, C-X, C-X make one discontinuous argument X, right only if
all its pieces are; R-X is a role of its own. The predicate, V, is not counted, nor are its continuations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import NamedTuple

from heedful.text.bio import spans_of

PREDICATE = "V"
_CONTINUES = "C-"


class Argument(NamedTuple):
    """A role and its words.

    Attributes:
        role: without the mark of a continuation.
        pieces: [start, end) of each piece, in order.
    """

    role: str
    pieces: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RoleCounts:
    """How many arguments were met.

    Attributes:
        correct: in gold and answer.
        excess: in the answer alone.
        missed: in the gold alone.
    """

    correct: int = 0
    excess: int = 0
    missed: int = 0

    def __add__(self, other: RoleCounts) -> RoleCounts:
        return RoleCounts(
            self.correct + other.correct, self.excess + other.excess, self.missed + other.missed
        )

    @property
    def precision(self) -> float:
        """Share of the answer that is right; 0 of nothing."""
        return _share(self.correct, self.correct + self.excess)

    @property
    def recall(self) -> float:
        """Share of the gold that was found; 0 of nothing."""
        return _share(self.correct, self.correct + self.missed)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.correct, 2 * self.correct + self.excess + self.missed)


@dataclass(frozen=True)
class FrameOutcome:
    """One predicate's arguments, gold against answer, by their roles; V may be among them.

    Attributes:
        correct: in both.
        excess: in the answer alone.
        missed: in the gold alone.
    """

    correct: tuple[str, ...]
    excess: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def counts(self) -> RoleCounts:
        """The numbers without V."""
        return RoleCounts(*(sum(role != PREDICATE for role in part) for part in astuple(self)))

    @property
    def complete(self) -> bool:
        """Whether nothing is missed and nothing in excess, V aside."""
        return not self.counts.excess and not self.counts.missed


@dataclass(frozen=True)
class RoleScores:
    """What a comparison of frames found.

    Attributes:
        frames: number of predicates.
        complete: of these, those all of whose arguments are right, and nothing else.
        by_role: counts of each role, V among them.
    """

    frames: int = 0
    complete: int = 0
    by_role: dict[str, RoleCounts] = field(default_factory=dict)

    @classmethod
    def of(cls, outcomes: Sequence[FrameOutcome]) -> RoleScores:
        """Add up the outcomes of frames."""
        numbers = [
            Counter(role for outcome in outcomes for role in part(outcome))
            for part in (lambda o: o.correct, lambda o: o.excess, lambda o: o.missed)
        ]
        by_role = {
            role: RoleCounts(*(number[role] for number in numbers)) for role in sorted(set().union(*numbers))
        }
        return cls(len(outcomes), sum(outcome.complete for outcome in outcomes), by_role)

    @property
    def overall(self) -> RoleCounts:
        """The counts of all roles but V."""
        return sum((counts for role, counts in self.by_role.items() if role != PREDICATE), RoleCounts())

    def metrics(self) -> dict[str, float]:
        """Return "f1", "precision", "recall" and "complete", the share of complete frames."""
        all_roles = self.overall
        return {
            "f1": all_roles.f1,
            "precision": all_roles.precision,
            "recall": all_roles.recall,
            "complete": _share(self.complete, self.frames),
        }


def arguments_of(tags: Sequence[str]) -> list[Argument]:
    """Return the arguments of a frame, continuations joined to what they continue.

    C-X continues the nearest X before it; where there is none, it is an argument X of its own.

    Returns the arguments, V among them, in the order of their first words.
    """
    found: list[tuple[str, list[tuple[int, int]]]] = []
    latest: dict[str, list[tuple[int, int]]] = {}
    for start, end, label in spans_of(tags):
        role = label.removeprefix(_CONTINUES)
        if role != label and role in latest:
            latest[role].append((start, end))
            continue
        latest[role] = [(start, end)]
        found.append((role, latest[role]))
    return [Argument(role, tuple(pieces)) for role, pieces in found]


def compare_frames(gold: Sequence[str], answer: Sequence[str]) -> FrameOutcome:
    """Compare one predicate's arguments.

    Args:
        gold: tags, one a word.
        answer: likewise.

    Returns:
        The roles that were met, or not.
    """
    wanted, given = set(arguments_of(gold)), set(arguments_of(answer))
    parts = (wanted & given, given - wanted, wanted - given)
    return FrameOutcome(*(tuple(argument.role for argument in sorted(part)) for part in parts))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
