"""Weights of examples, as ``sample_weight`` gives them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import WEIGHTS, Example
from heedful.errors import UsageError


def example_weights(weights: object, count: int) -> NDArray[np.float64] | None:
    """Check weights of examples.

    Args:
        weights: one number an example; None for equal weights.
        count: number of examples, N.

    Returns:
        The weights, [N]; None for equal ones.

    Raises:
        UsageError: if they are not N finite numbers of 0 or more, with one above 0, or not within `WEIGHTS`.
    """
    if weights is None:
        return None
    try:
        values = np.asarray(weights, np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"sample_weight: expected {count} numbers, got {weights!r:.60}") from error
    if values.shape != (count,):
        raise UsageError(f"sample_weight: expected {count} numbers, got an array of shape {values.shape}")
    if not (np.isfinite(values) & (values >= 0)).all() or not values.any():
        found = "all are zero" if len(values) and not values.any() else "some are not"
        raise UsageError(
            f"sample_weight: expected finite numbers, 0 or more, one of them above zero; {found}"
        )
    least, greatest = WEIGHTS
    if wrong := [value for value in values.tolist() if value and not least <= value <= greatest]:
        raise UsageError(
            f"sample_weight: expected 0, or numbers from {least:g} to {greatest:g}; got {wrong[0]:g}"
        )
    return values


def weighted(examples: list[Example], weights: object) -> list[Example]:
    """Return examples with their weights.

    Args:
        examples: N examples.
        weights: see `example_weights`.

    Returns:
        The examples.
    """
    values = example_weights(weights, len(examples))
    if values is None:
        return examples
    return [replace(each, weight=float(value)) for each, value in zip(examples, values, strict=True)]
