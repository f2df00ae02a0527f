"""Names of blocks and heads in explanations."""

from __future__ import annotations

from collections.abc import Sequence


def numbered(names: Sequence[str]) -> list[str]:
    """Make names unique: those that occur more than once get their place in the list, from 1.

    >>> numbered(["forward", "not_self", "not_self"])
    ['forward', 'not_self 2', 'not_self 3']
    """
    return [name if names.count(name) == 1 else f"{name} {i + 1}" for i, name in enumerate(names)]
