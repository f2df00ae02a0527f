"""The space of a search: settings by name, each with a range or a list of values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import UsageError
from heedful.run.recipe_files import override
from heedful.run.recipe_tables import read_toml, value_of
from heedful.run.run_config import RunConfig
from heedful.storage.fields import is_list, is_table

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
        """Return whether a value is one of them."""


@dataclass(frozen=True)
class Range(Domain):
    """Numbers from ``low`` to ``high``, both included.

    Attributes:
        low: the lowest.
        high: the highest.
        log: whether all magnitudes are equally likely, instead of all numbers.
        step: distance between neighboring values; 0 for any number. Whole numbers have 1.
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


def read_domain(written: object) -> Domain:
    """Read a range or a list of values.

    Args:
        written: ``"LOW..HIGH"``, ``"LOW..HIGH:log"``, ``"LOW..HIGH:STEP"``, or a list of at least two plain values.

    Returns:
        What may be chosen.

    Raises:
        ValueError: saying what was expected.
    """
    if isinstance(written, str):
        return _range(written)
    values = tuple(x for x in written if isinstance(x, Value)) if is_list(written) else ()
    if not is_list(written) or not 2 <= len(values) == len(written):
        raise ValueError(f"{FORM}, at least two, each a text, a number, true or false; got {written!r}")
    return Choice(values)


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
    """Return whether a span is made of whole steps, but for the rounding of decimal fractions."""
    return abs(span / step - round(span / step)) < 1e-6


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


Space = dict[str, Domain]
"""Name of a setting to what it may be."""
_FIXED = ("data.", "train.seed", "train.metric", "train.direction", "train.device")
"""Settings whose change would make scores that cannot be compared."""


def read_space(file: Path | None, vary: Iterable[str], config: RunConfig) -> Space:
    """Read what is varied, and check it against the settings it is to change.

    Args:
        file: TOML tables like those of a recipe, with ranges and lists in the place of values; None for none.
        vary: ``name=range`` or ``name=value,value`` strings; each replaces what the file says of its name.
        config: the settings that are varied; where neither file nor ``vary`` is given, ranges around them.

    Returns:
        Setting names to what they may be.

    Raises:
        UsageError: listing every mistake.
    """
    vary = tuple(vary)
    problems: list[str] = []
    space: Space = {}
    if file is None and not vary:
        space = default_space(config)
    if file is not None:
        space.update(_domains(read_toml(file, f"--space {file}"), "", problems))
    for text in vary:
        name, sign, said = text.partition("=")
        if not sign or not name.strip() or not said.strip():
            problems.append(
                f"--vary {text!r}: write NAME=RANGE, for example train.optimizer.lr=1e-4..1e-2:log"
            )
            continue
        _add(space, name.strip(), said.strip() if ".." in said else _values(said), problems)
    if not problems:
        problems = list(_unfit(space, config))
    if problems:
        raise UsageError(
            f"mistakes in the settings to vary: {len(problems)}\n" + "\n".join(f"  {p}" for p in problems)
        )
    if not space:
        raise UsageError(f"{file}: nothing is varied: {FORM}")
    return space


def default_space(config: RunConfig) -> Space:
    """Return what is varied where nobody says: learning rate, L2, dropout and batch size, around the settings.

    Args:
        config: the settings; they lie in the space.

    Returns:
        Learning rate and L2 within a factor of 10, on a logarithmic scale; L2 among powers of ten where there is none.
    """
    optimizer, size = config.train.optimizer, config.batches.size
    decay: Domain = Choice((0.0, 1e-6, 1e-5, 1e-4, 1e-3))
    if optimizer.weight_decay:
        decay = _around(optimizer.weight_decay)
    return {
        "train.optimizer.lr": _around(optimizer.lr),
        "train.optimizer.weight_decay": decay,
        "model.dropout": Range(0.0, max(0.6, config.model.dropout)),
        "batches.size": Choice(tuple(dict.fromkeys((max(1, size // 2), size, size * 2)))),
    }


def _around(value: float) -> Range:
    return Range(float(f"{value / 10:.6g}"), float(f"{value * 10:.6g}"), log=True)


def to_toml(space: Space) -> str:
    """Write a space as the TOML that `read_space` reads.

    Args:
        space: the space.

    Returns:
        The text.
    """
    import tomli_w

    tables: dict[str, object] = {}
    for name, domain in space.items():
        *path, last = name.split(".")
        table = tables
        for part in path:
            inner = table.setdefault(part, {})
            assert isinstance(inner, dict)  # no setting is a value and a table
            table = inner
        table[last] = list(domain.values) if isinstance(domain, Choice) else str(domain)
    return tomli_w.dumps(tables)


def current(space: Iterable[str], config: RunConfig) -> dict[str, object]:
    """Return what the settings themselves say of each name; names they leave open are missing."""
    found = {}
    for name in space:
        value: object = asdict(config)
        for part in name.split("."):
            value = value.get(part) if is_table(value) else None
        if value is not None:
            found[name] = value
    return found


def _domains(table: Mapping[str, object], path: str, problems: list[str]) -> Space:
    space: Space = {}
    for key, said in table.items():
        if is_table(said):
            space.update(_domains(said, f"{path}{key}.", problems))
        else:
            _add(space, f"{path}{key}", said, problems)
    return space


def _add(space: Space, name: str, said: object, problems: list[str]) -> None:
    try:
        space[name] = read_domain(said)
    except ValueError as error:
        problems.append(f"{name}: {error}")


def _values(text: str) -> list[object]:
    """Read values separated by commas, each in TOML or a bare string."""
    return [value_of(part) for part in text.split(",")]


def _unfit(space: Space, config: RunConfig) -> Iterator[str]:
    """Return which ends of ranges and which values the settings refuse."""
    for name, domain in space.items():
        if name.startswith(_FIXED):
            yield f"{name}: is the same in every trial, so that their scores can be compared; set it with --set"
            continue
        for value in domain.ends():
            try:
                override(config, {name: value})
            except UsageError as error:
                yield str(error).split("\n")[-1].strip() if "\n" in str(error) else str(error)
                break
