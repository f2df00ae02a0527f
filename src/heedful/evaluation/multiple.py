"""Many tests at once: p-values that hold for all of them together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heedful.errors import UsageError


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of one false alarm among all of them stays below the level (Holm, 1979).

    The k-th smallest of m is multiplied by m - k + 1, and none is smaller than one before it. It holds for tests that
    depend on each other, as those that share test examples do.

    Args:
        p_values: one a test, in [0, 1].

    Returns:
        The adjusted p-values in the same order, at most 1.

    Raises:
        UsageError: if one is not in [0, 1].
    """
    values = np.asarray(p_values, dtype=np.float64)
    if not np.all((values >= 0) & (values <= 1)):
        raise UsageError(f"p_values must lie in [0, 1]; got {values.tolist()}")
    order = np.argsort(values, kind="stable")
    raised = values[order] * (len(values) - np.arange(len(values)))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0) if len(values) else raised
    return [float(value) for value in adjusted]
