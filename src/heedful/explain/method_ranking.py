"""How the methods of explanation did on data, as a model folder keeps it, and which of them is the model's own.

``heedful faithfulness`` writes it into the file of figures of a model folder, ``explanations`` in ``metrics.json``,
which every version reads. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace

from heedful.errors import ArtifactError
from heedful.explain.methods.method_names import DEFAULT, METHODS, MethodChoice
from heedful.storage.fields import REMEDY
from heedful.storage.manifest import METRICS

KEY = "explanations"
_CHEAPEST = (DEFAULT, "attention", "occlusion", "shapley", "gradient", "integrated")
"""The methods that need no torch come first, and those that add up before the others."""
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass(frozen=True)
class Standing:
    """The order of the methods on some data.

    Attributes:
        order: names of methods, the best first.
        on: what the data is called.
        texts: how many texts were measured.
        tied: methods that are statistically tied with the best.
    """

    order: tuple[str, ...]
    on: str
    texts: int
    tied: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("order", "tied"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def default(self) -> str:
        """The method that a model shows by default: the best one, or of those that are tied the cheapest to compute."""
        return next(name for name in _CHEAPEST if name == self.order[0] or name in self.tied)

    def sentence(self, method: str) -> str:
        """Return how a method did; empty if it was not measured."""
        if method not in self.order:
            return ""
        data = f"on {self.on} ({self.texts:,} texts)"
        if len(self.order) == 1:
            return f"Only {method} was measured {data}."
        best = self.order[0]
        others = f", statistically tied with {' and '.join(self.tied)}" if self.tied else ""
        if method == best:
            return f"Of {len(self.order)} methods {method} came first {data}{others}."
        tie = ", statistically tied with the best" if method in self.tied else ""
        place = _PLACES[self.order.index(method)]
        return f"Of {len(self.order)} methods {method} came {place} {data}{tie}; the best was {best}."

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def standing_of(metrics: Mapping[str, object]) -> Standing | None:
    """Read how the methods did.

    Args:
        metrics: the figures of a model folder.

    Returns:
        The order of the methods; None where it was not measured.

    Raises:
        ArtifactError: if what is kept is no such thing.
    """
    kept = metrics.get(KEY)
    if kept is None:
        return None
    try:
        if not isinstance(kept, Mapping):
            raise TypeError
        found = Standing(**kept)
        good = (
            len(found.order) > 0
            and len(set(found.order)) == len(found.order)
            and set(found.tied) <= set(found.order) <= set(METHODS)
            and isinstance(found.on, str)
            and type(found.texts) is int
        )
    except TypeError:
        good = False
    if not good:
        raise ArtifactError(f"{METRICS}: {KEY} does not say how methods of explanation did. {REMEDY}")
    return found


def by_default(
    choice: MethodChoice, metrics: Mapping[str, object], *, without: Collection[str] = ()
) -> tuple[MethodChoice, str]:
    """Put the model's own method in the place of none.

    Args:
        choice: the method that was asked for.
        metrics: the figures of the model.
        without: methods that cannot be used here.

    Returns:
        The choice; and how its method did, in a sentence, empty where that was not measured.
    """
    standing = standing_of(metrics)
    if standing is None:
        return choice, ""
    if choice.method is None:
        best = (standing.default, *standing.order)
        choice = replace(choice, method=next((m for m in best if m not in without), None))
    return choice, standing.sentence(choice.method or DEFAULT)
