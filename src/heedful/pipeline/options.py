"""Options of a reader that settings name, checked like all other settings, before a file is read."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from heedful.errors import UsageError, nearest
from heedful.models.fitting import fit


def check_options(
    options: Mapping[str, Any], reader: Callable[..., Any], what: str, taken: Collection[str] = ()
) -> None:
    """Refuse options that a reader does not take, or not of this type.

    Args:
        options: ``data.options`` of the settings.
        reader: what reads the data; its parameters are the options.
        what: is read, for messages.
        taken: parameters that are said elsewhere and are no options; the path always is one.

    Raises:
        UsageError: listing every mistake.
    """
    hints = typing.get_type_hints(reader)
    valid = tuple(name for name in inspect.signature(reader).parameters if name not in ("path", *taken))
    problems = []
    for name, value in options.items():
        if name not in valid:
            problems.append(f"option {name!r} of {what} is unknown; {nearest(name, valid)}")
            continue
        hint = hints.get(name, Any)
        _, wrong = fit(value, tuple[str, ...] if hint == Sequence[str] else hint)
        if wrong:
            problems.append(f"data.options.{name}: {wrong}; got {value!r}")
    if problems:
        raise UsageError("; ".join(problems))
