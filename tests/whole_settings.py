"""All settings of a run by their dotted names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass


def leaves(record: object, path: str = "") -> Iterator[str]:
    """Give the dotted names of the settings below a dataclass."""
    for each in fields(record):  # type: ignore[arg-type]
        value = getattr(record, each.name)
        if is_dataclass(value):
            yield from leaves(value, f"{path}{each.name}.")
        else:
            yield f"{path}{each.name}"
