"""The condition of ``--fail-under``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from heedful.errors import UsageError, nearest


def parse_gate(condition: str, names: Sequence[str], example: str) -> tuple[str, float]:
    """Read a condition such as ``accuracy=0.9``.

    Args:
        condition: value of ``--fail-under``.
        names: what may be on the left.
        example: a condition, for messages.

    Returns:
        The name and the limit.

    Raises:
        UsageError: if it is no such condition.
    """
    name, _, value = condition.partition("=")
    if name not in names:
        raise UsageError(f"--fail-under: there is no metric {name!r}; {nearest(name, list(names))}")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise UsageError(f"--fail-under {condition!r}: write METRIC=VALUE, for example {example}")
    return name, limit
