"""The values that one setting may take in a search, and how a person writes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna import Trial

Value = str | int | float | bool
FORM = "write LOW..HIGH, LOW..HIGH:log, LOW..HIGH:STEP or a list of values"


class Domain(ABC):
    """The values that one setting may take."""

    @abstractmethod
    def suggest(self, name: str, trial: Trial) -> Value:
        """Let a trial choose a value."""

    @abstractmethod
    def ends(self) -> tuple[Value, ...]:
        """Return values that have to be good settings: the ends of a range, every value of a list."""

    @abstractmethod
    def holds(self, value: object) -> bool:
        """Say whether a value is one of them."""


@dataclass(frozen=True)
class Range(Domain):
    """Numbers from ``low`` to ``high``, both included.

    Attributes:
        low: the lowest.
        high: the highest.
        log: whether all magnitudes are equally likely, instead of all numbers.
        step: between neighbours; 0 for any number. Whole numbers have 1.
        whole: whether they are whole numbers.
    """

    low: float
    high: float
    log: bool = False
    step: float = 0.0
    whole: bool = False

    def suggest(self, name: str, trial: Trial) -> Value:
        """See `Domain.suggest`."""
        if self.whole:
            step = int(self.step) or 1
            return trial.suggest_int(name, int(self.low), int(self.high), step=step, log=self.log)
        return trial.suggest_float(name, self.low, self.high, step=self.step or None, log=self.log)

    def ends(self) -> tuple[Value, ...]:
        """See `Domain.ends`."""
        return (int(self.low), int(self.high)) if self.whole else (self.low, self.high)

    def holds(self, value: object) -> bool:
        """See `Domain.holds`."""
        right = int if self.whole else (int, float)
        if not isinstance(value, right) or isinstance(value, bool):
            return False
        return self.low <= value <= self.high and (not self.step or _divides(self.step, value - self.low))

    def __str__(self) -> str:
        return "..".join(map(str, self.ends())) + (
            ":log" if self.log else f":{self.step:g}" if self.step else ""
        )


@dataclass(frozen=True)
class Choice(Domain):
    """A list of values without order.

    Attributes:
        values: the values.
    """

    values: tuple[Value, ...]

    def suggest(self, name: str, trial: Trial) -> Value:
        """See `Domain.suggest`."""
        chosen = trial.suggest_categorical(name, self.values)
        assert chosen is not None  # None is no value of a setting
        return chosen

    def ends(self) -> tuple[Value, ...]:
        """See `Domain.ends`."""
        return self.values

    def holds(self, value: object) -> bool:
        """See `Domain.holds`."""
        return value in self.values

    def __str__(self) -> str:
        return ",".join(map(str, self.values))


def read_domain(said: object) -> Domain:
    """Read a range or a list of values.

    Args:
        said: ``"LOW..HIGH"``, ``"LOW..HIGH:log"``, ``"LOW..HIGH:STEP"``, or a list of at least two plain values.

    Returns:
        What may be chosen.

    Raises:
        ValueError: saying what was expected.
    """
    if isinstance(said, str):
        return _range(said)
    if not isinstance(said, list) or len(said) < 2 or not all(isinstance(x, Value) for x in said):
        raise ValueError(f"{FORM}, at least two, each a text, a number, true or false; got {said!r}")
    return Choice(tuple(said))


def _range(text: str) -> Range:
    span, _, how = text.partition(":")
    low_text, dots, high_text = span.partition("..")
    try:
        low, high = _number(low_text), _number(high_text)
        step = 0.0 if how in ("", "log") else _number(how)
    except ValueError:
        dots = ""
    if not dots:
        raise ValueError(f"{FORM}; got {text!r}")
    whole = all(isinstance(end, int) for end in (low, high, step or 0))
    found = Range(low, high, how == "log", step, whole)
    if not low < high:
        raise ValueError(f"the lower end must be below the upper one; got {text!r}")
    if found.log and low <= 0:
        raise ValueError(f"a range with :log must begin above 0; got {text!r}")
    if how not in ("", "log") and not (0 < step <= high - low and _divides(step, high - low)):
        raise ValueError(f"whole steps must lead from the lower end to the upper one; got {text!r}")
    return found


def _divides(step: float, span: float) -> bool:
    """Say whether a span is made of whole steps, but for the rounding of decimal fractions."""
    return abs(span / step - round(span / step)) < 1e-6


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
