"""Refuse what a network gives where it is no number: weights of a folder may be finite and yet too large."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtifactError

Floats = NDArray[np.float32]


def finite(what: str, rows: Floats) -> Floats:
    """Refuse rows of numbers of which one is not finite.

    Args:
        what: the rows are, for the message.
        rows: one or more numbers a text, [N, ...].

    Returns:
        The rows.

    Raises:
        ArtifactError: naming the first text, counted from 1.
    """
    good = np.isfinite(rows.reshape(len(rows), rows[:1].size)).all(axis=1)
    if not good.all():
        raise _not_finite(what, int(good.argmin()) + 1)
    return rows


def finite_row(what: str, row: Floats, number: int) -> Floats:
    """Return what a network gave of one text; ``what`` and ``number`` are for the message; see `finite`."""
    if not np.isfinite(row).all():
        raise _not_finite(what, number)
    return row


def _not_finite(what: str, number: int) -> ArtifactError:
    return ArtifactError(
        f"text {number:,}: the {what} holds numbers that are not finite, so the weights are of no use. Copy the model "
        "again from its source, or train it again."
    )
