"""Paths as a caller gives them, checked before the system sees them."""

from __future__ import annotations

import os
from pathlib import Path

from heedful.errors import UsageError, shown


def checked_path(value: object, argument: str) -> Path:
    """Return a path that a caller gave.

    Args:
        value: the path; a string, or what `os.fspath` makes one of.
        argument: what messages call it.

    Returns:
        The path, whatever is there.

    Raises:
        UsageError: if it is no path, is empty, or holds a character that no path can have.
    """
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    if not isinstance(text, str):
        raise UsageError(f"{argument} must be a path, as a string or a pathlib.Path; got {shown(value)}")
    if not text.strip():
        raise UsageError(f"{argument} is empty; give a path")
    try:
        plain = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        plain = False
    if not plain:
        raise UsageError(f"{argument} holds a character that no path can have; got {shown(text)}")
    return Path(value)  # type: ignore[arg-type]  # a string or a path
