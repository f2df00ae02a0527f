"""Settings as frozen dataclasses: what a value may be is said at its field, and checked there alone.

A recipe, a model folder, a checkpoint and a constructor all meet the same checks, so that a mistake has one text::

    @dataclass(frozen=True)
    class StackConfig(Settings):
        layers: int = ranged(6, COUNT)
        dropout: float = ranged(0.1, SHARE)
"""

from __future__ import annotations

import contextlib
import math
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from heedful.errors import UsageError, nearest, shown

Check = Callable[[Any], str]
"""What is wrong with a value of the right type, as a clause that begins with "must"; empty where nothing is."""
Record = TypeVar("Record")
_LARGEST = 2**63


def ranged(default: object, check: Check) -> Any:
    """Declare a field of `Settings` by its default and by what its value must be."""
    return field(default=default, metadata={"check": check})


@dataclass(frozen=True)
class Settings:
    """Base of the settings: no object of theirs holds a value of another type or out of its range.

    Raises:
        UsageError: on construction, listing every field that is wrong and every contradiction.
    """

    def __post_init__(self) -> None:
        kind, problems = type(self), list[str]()
        for name in _hints(kind):
            value = getattr(self, name)
            if isinstance(value, list | tuple) and any(hasattr(item, "setting_text") for item in value):
                # an object, such as a mask, that says by which text settings name it
                value = tuple(getattr(item, "setting_text", lambda item=item: item)() for item in value)
                object.__setattr__(self, name, value)
            if problem := fit_field(kind, name, value)[1]:
                problems.append(f"{name} {problem}; got {shown(value)}")
        with contextlib.suppress(
            TypeError
        ):  # what is of another type is named already, and cannot be compared
            problems += self.contradictions()
        if problems:
            raise UsageError("; ".join(problems))

    def contradictions(self) -> list[str]:
        """Name what is wrong with several fields together, a sentence each."""
        return []


def at_least(least: float) -> Check:
    """Return the check of a finite number that is not below a bound."""
    return lambda value: "" if _finite(value) and value >= least else f"must be {least:,} or more"


def above(bound: float) -> Check:
    """Return the check of a finite number above a bound."""
    return lambda value: "" if _finite(value) and value > bound else f"must be above {bound:,}"


def up_to(least: int, most: int) -> Check:
    """Return the check of a number between two bounds, both included."""
    return lambda value: at_least(least)(value) or ("" if value <= most else f"must be at most {most:,}")


def inside(low: float, high: float) -> Check:
    """Return the check of a number between two bounds, both left out."""
    return lambda value: "" if low < value < high else f"must be above {low:,} and below {high:,}"


def share(value: float) -> str:
    """Check a share, from 0 to below 1."""
    return "" if 0 <= value < 1 else "must be at least 0 and below 1"


def finite(value: float) -> str:
    """Check that a number is finite."""
    return "" if _finite(value) else "must be a finite number"


def each_once(values: Sequence[str]) -> str:
    """Check that a list names something, and nothing twice."""
    return "" if values and len(set(values)) == len(values) else "must name at least one kind, and each once"


def one_of(names: Sequence[str]) -> Check:
    """Return the check that a text is one of some names; suggests the nearest."""
    known = tuple(names)
    return lambda value: (
        "" if value in known else f"must be one of {', '.join(known)} ({nearest(value, known)})"
    )


def readable(parse: Callable[[str], object]) -> Check:
    """Return the check that every text of a list can be read, and that there is one."""

    def check(texts: Sequence[str]) -> str:
        problems = "; ".join(_unreadable(parse, texts))
        return (
            f"must hold readable names: {problems}"
            if problems
            else ""
            if texts
            else "must hold at least one name"
        )

    return check


COUNT = up_to(1, 1024)
"""How many layers, heads or encoders there are."""


def fit_field(kind: type[object], name: str, value: object) -> tuple[object, str]:
    """Return a value as a field of a dataclass wants it, or what it must be; see `fit`."""
    fitted, problem = fit(value, _hints(kind)[name])
    return fitted, problem or _checks(kind).get(name, _anything)(fitted)


_MOST_HINTS = 100
"""Mistakes up to which an unknown setting gets a hint, which takes milliseconds to find; no message lists more."""


def read_table(
    kind: type[Record], table: Mapping[str, object], path: str, problems: list[str]
) -> Record | None:
    """Make a dataclass from a table, collecting every mistake.

    Args:
        kind: the dataclass; its fields say what is allowed, and its own check says what else.
        table: plain values by name of a field; a field that is itself a dataclass is a table.
        path: what stands before a name in a message, such as "model."; empty at the top.
        problems: gets one sentence a mistake, with the full name of what is wrong.

    Returns:
        The record; where there was a mistake, one with defaults in its place, or None if a field has no default.
    """
    hints = _hints(kind)
    known = {field.name: field for field in _fields(kind) if field.init}
    values: dict[str, object] = {}
    for key, value in table.items():
        where = f"{path}{key}"
        if key not in known:
            hint = f"; {_instead(kind, str(key), path)}" if len(problems) < _MOST_HINTS else ""
            problems.append(f"{where}: unknown setting{hint}")
        elif inner := _table_of(hints[key]):
            if isinstance(value, Mapping):
                values[key] = read_table(inner, value, f"{where}.", problems)
            else:
                problems.append(f"{where}: must be a table; got {shown(value)}")
        else:
            fitted, problem = fit_field(kind, key, value)
            if problem:
                problems.append(f"{where}: {problem}; got {shown(value)}")
            else:
                values[key] = fitted
    needed = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING]
    problems += [f"{path}{name}: missing" for name in needed if name not in table]
    if any(values.get(name) is None for name in needed):
        return None
    try:
        return kind(**values)
    except UsageError as error:
        problems.append(f"{path.rstrip('.') or 'settings'}: {error}")
        return None if needed else kind()


def names_ending_in(kind: type[object], last: str, path: str = "") -> list[str]:
    """Return the dotted names of the settings below a dataclass whose last part is ``last``.

    Args:
        kind: the dataclass.
        last: the part after the last dot, such as "lr".
        path: what stands before each name, such as "train."; empty at the top.

    Returns:
        The names, such as "train.optimizer.lr".
    """
    found = []
    for name, hint in _hints(kind).items():
        if inner := _table_of(hint):
            found += names_ending_in(inner, last, f"{path}{name}.")
        elif name == last:
            found.append(f"{path}{name}")
    return found


def changed_fields(record: object, other: object, path: str = "") -> list[str]:
    """Return the settings of a dataclass that differ from those of another one of its type, as ``train.epochs=3``."""
    found = []
    for name in _hints(type(record)):
        value, usual = getattr(record, name), getattr(other, name)
        if is_dataclass(value):
            found += changed_fields(value, usual, f"{path}{name}.")
        elif value != usual:
            found.append(f"{path}{name}={value!r}")
    return found


def _instead(kind: type[object], name: str, path: str) -> str:
    """Suggest a setting for an unknown one: of its last name in another table, or the nearest of the same table."""
    elsewhere = names_ending_in(kind, name, path)
    if elsewhere:
        return f"did you mean {' or '.join(map(repr, elsewhere))}?"
    return nearest(name, list(_hints(kind)))


_FURTHER: dict[object, list[str]] = {}
"""Names that programs have registered, by the type hint of the fields that take them."""


def take_name(hint: object, name: str) -> None:
    """Let the fields of a type hint, a Literal of names, take one name more in this process."""
    if name not in get_args(hint) and name not in _FURTHER.setdefault(hint, []):
        _FURTHER[hint].append(name)


def fit(value: object, hint: object) -> tuple[object, str]:
    """Return a value as a type hint wants it, or what was expected.

    Args:
        value: a plain value.
        hint: the type of a field of a settings dataclass.

    Returns:
        The value, lists as tuples and whole numbers as floats where the hint says so, and an empty string; or anything
        and a clause that begins with "must".
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _one_of(value, inner)
    if origin is Literal:
        inner = (*inner, *_FURTHER.get(hint, ()))
        # Not "value in inner": Python holds True and 1.0 for equal to 1.
        if any(value == name and type(value) is type(name) for name in inner):
            return value, ""
        hint_text = nearest(str(value), [str(x) for x in inner])
        return None, f"must be one of {', '.join(map(repr, inner))} ({hint_text})"
    if hint is float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None, "must be a number"
        try:
            return float(value), ""
        except OverflowError:
            return None, "must be a number of fewer digits"
    if hint is int and isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        return None, "must be a whole number of fewer digits"
    if hint is str and any("\ud800" <= letter <= "\udfff" for letter in str(value)):
        return None, "must be whole characters, which a file of UTF-8 can hold; rename the file or column"
    if hint is int or hint is str or hint is bool:
        fits = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
        return value, "" if fits else f"must be {_spell(hint)}"
    if origin is tuple:
        if not isinstance(value, list | tuple):
            return None, "must be a list"
        items = [fit(item, inner[0]) for item in value]
        wrong = next((problem for _, problem in items if problem), "")
        return tuple(item for item, _ in items), f"each item {wrong}" if wrong else ""
    if origin is dict:
        return _entries(value, inner[1]) if isinstance(value, Mapping) else (None, "must be a table")
    if hint is type(None):
        return None, "" if value is None else "must be left out"
    return value, ""


_HINTS: dict[type[object], dict[str, object]] = {}
_CHECKS: dict[type[object], dict[str, Check]] = {}


def _fields(kind: type[object]) -> tuple[Field[object], ...]:
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__name__} is no dataclass")
    return fields(kind)


def _table_of(hint: object) -> type[object] | None:
    """Return the dataclass that a type hint names; None if it names something else."""
    return hint if isinstance(hint, type) and is_dataclass(hint) else None


def _hints(kind: type[object]) -> dict[str, object]:
    if kind not in _HINTS:
        hints = get_type_hints(kind)
        _HINTS[kind] = {part.name: hints[part.name] for part in _fields(kind)}
    return _HINTS[kind]


def _checks(kind: type[object]) -> dict[str, Check]:
    if kind not in _CHECKS:
        _CHECKS[kind] = {p.name: p.metadata["check"] for p in _fields(kind) if "check" in p.metadata}
    return _CHECKS[kind]


def _anything(value: object) -> str:
    return ""


def _finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)  # a whole number may be too long for isfinite


def _unreadable(parse: Callable[[str], object], texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        try:
            parse(text)
        except UsageError as error:
            yield str(error)


def _entries(table: Mapping[object, object], hint: object) -> tuple[dict[object, object], str]:
    found = {key: fit(value, hint) for key, value in table.items()}
    wrong = next((f"{key!r:.80} {problem}" for key, (_, problem) in found.items() if problem), "")
    values = {key: value for key, (value, _) in found.items()}
    return values, f"must be a table in which {wrong}" if wrong else ""


def _one_of(value: object, hints: tuple[object, ...]) -> tuple[object, str]:
    for hint in hints:
        fitted, problem = fit(value, hint)
        if not problem:
            return fitted, ""
    return None, "must be one of: " + ", ".join(_spell(hint) for hint in hints)


def _spell(hint: object) -> str:
    names: Mapping[object, str] = {
        int: "a whole number",
        float: "a number",
        str: "a string",
        bool: "true or false",
    }
    return names.get(hint, "nothing" if hint is type(None) else str(hint))
