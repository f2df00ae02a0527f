"""The probabilities of the parents of classes that are paths, as an explanation shows them. Imports no torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from heedful.errors import UsageError
from heedful.model.answers import ShownAnswer
from heedful.tables import percent
from heedful.text.characters import visible

_SHOWN = 6
"""Parents that a line has."""


@dataclass(frozen=True)
class ParentShares:
    """The parents of classes that are paths, such as "sport" of "sport/football".

    Attributes:
        probabilities: name of each parent to the sum of the probabilities of its classes.
        answered: the class or the parent that is answered.
        at_least: the probability that the answer must have; None where the class itself is answered.

    Raises:
        UsageError: if a probability is out of range.
    """

    probabilities: dict[str, float]
    answered: str
    at_least: float | None = None

    def __post_init__(self) -> None:
        shares = {str(name): float(share) for name, share in self.probabilities.items()}
        object.__setattr__(self, "probabilities", shares)
        if not all(0 <= share <= 1 + 1e-6 for share in shares.values()):
            raise UsageError("parents: expected probabilities, from 0 to 1")

    @classmethod
    def of(cls, shown: ShownAnswer) -> ParentShares | None:
        """Return those of an answer; None where its classes were not taken as paths."""
        if shown.tree is None:
            return None
        shares = {
            name: sum(shown.probabilities[place] for place in below)
            for name, below in shown.tree.parents.items()
        }
        return cls(shares, shown.tree.answered, shown.tree.at_least)

    @property
    def rule(self) -> str:
        """Why the answer is this node, as the end of a sentence; empty where the class itself is answered."""
        if self.at_least is None:
            return ""
        least, share = percent(self.at_least), self.probabilities.get(self.answered, 1.0)
        return f", the deepest of at least {least}" if share >= self.at_least else f", for none has {least}"

    def line(self) -> str:
        """Return the likeliest parents with their probabilities in one line."""
        order = sorted(self.probabilities, key=lambda name: -self.probabilities[name])
        told = [f"{visible(name)} {percent(self.probabilities[name])}" for name in order[:_SHOWN]]
        more = [f"{len(order) - _SHOWN:,} more"] if len(order) > _SHOWN else []
        return f"parents: {', '.join([*told, *more])}"

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON; the constructor takes them back."""
        return asdict(self)
