"""The methods by their names. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from heedful.errors import UsageError, check_known, checked_whole
from heedful.explain.attribution import Attribution
from heedful.explain.methods.answer_function import Question
from heedful.explain.methods.deletion import MOST_ORDERS, ORDERS, occlusion, shapley

DEFAULT = "contributions"
METHODS = (DEFAULT, "attention", "gradient", "integrated", "occlusion", "shapley")
WITH_TORCH = ("gradient", "integrated")
"""Methods that need the gradients of the network."""
Further = Mapping[str, Callable[[], Attribution]]


@dataclass(frozen=True)
class Sampling:
    """How Shapley values are sampled.

    Attributes:
        orders: random orders of the words, 1 to 100,000.
        seed: of the random numbers.
        rough: whether the default method computes fewer choices of words, because many texts are added up.
    """

    orders: int = ORDERS
    seed: int = 0
    rough: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", checked_whole("samples", self.orders, 1, MOST_ORDERS))
        object.__setattr__(self, "seed", checked_whole("seed", self.seed, 0))


@dataclass(frozen=True)
class MethodChoice:
    """Which method explains an answer.

    Attributes:
        method: a name of `METHODS`; None for the model's own, which is `DEFAULT` unless another one was measured to be
            better.
        sampling: how Shapley values are sampled.
        why: the class or label that is explained; None for the one that is answered.
    """

    method: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    why: str | None = None


def check_method(method: str) -> None:
    """Refuse the name of a method that there is not.

    Args:
        method: the name.

    Raises:
        UsageError: giving the nearest.
    """
    check_known(method, METHODS, f"there is no explanation method {method!r}")


def attribute(
    method: str, question: Question, sampling: Sampling | None = None, further: Further | None = None
) -> Attribution:
    """Explain an answer by a method that has contributions.

    Args:
        method: a name of `METHODS` but the default and attention, whose weights the network gives.
        question: what is asked.
        sampling: for Shapley values.
        further: ways of the methods that need the network.

    Returns:
        What each word contributes.

    Raises:
        UsageError: if there is no such method, or this model cannot be explained by it.
    """
    check_method(method)
    sampling = sampling or Sampling()
    ways: Further = {
        "occlusion": lambda: occlusion(question),
        "shapley": lambda: shapley(question, orders=sampling.orders, seed=sampling.seed),
        **(further or {}),
    }
    if method not in ways:
        others = f"{', '.join([DEFAULT, *ways][:-1])} or {[*ways][-1]}"
        raise UsageError(f"this model has no explanation by {method}; choose {others}")
    return ways[method]()
