"""Plain values, as TOML and JSON give them, to what the type of a setting asks for."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from heedful.errors import nearest


def fit(value: Any, hint: Any) -> tuple[Any, str]:
    """Return a value as a type hint wants it, or what was expected.

    Args:
        value: a plain value.
        hint: the type of a field of a settings dataclass.

    Returns:
        The value, lists as tuples and whole numbers as floats where the hint says so, and an empty string; or anything
        and a sentence that begins with "must".
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _one_of(value, inner)
    if origin is Literal:
        # Not "value in inner": Python holds True and 1.0 for equal to 1.
        if any(value == name and type(value) is type(name) for name in inner):
            return value, ""
        hint_text = nearest(str(value), [str(x) for x in inner])
        return None, f"must be one of {', '.join(map(repr, inner))} ({hint_text})"
    if hint is float:
        good = isinstance(value, int | float) and not isinstance(value, bool)
        try:
            return (float(value), "") if good else (None, "must be a number")
        except OverflowError:
            return None, "must be a number of fewer digits"
    if hint in (int, str, bool):
        good = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
        return value, "" if good else f"must be {_spell(hint)}"
    if origin is tuple:
        if not isinstance(value, list | tuple):
            return None, "must be a list"
        items = [fit(item, inner[0]) for item in value]
        wrong = next((problem for _, problem in items if problem), "")
        return tuple(item for item, _ in items), f"each item {wrong}" if wrong else ""
    if origin is dict:
        return (dict(value), "") if isinstance(value, Mapping) else (None, "must be a table")
    if hint is type(None):
        return None, "" if value is None else "must be left out"
    return value, ""


def _one_of(value: Any, hints: tuple[Any, ...]) -> tuple[Any, str]:
    for hint in hints:
        fitted, problem = fit(value, hint)
        if not problem:
            return fitted, ""
    return None, "must be one of: " + ", ".join(_spell(hint) for hint in hints)


def _spell(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
    return names.get(hint, "nothing" if hint is type(None) else str(hint))
