"""Weights of examples, as ``sample_weight`` gives them."""

from __future__ import annotations

import numbers
from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import WEIGHTS, Example
from heedful.data.readers.corpus_builder import number_of
from heedful.errors import UsageError
from heedful.estimators.columns import rows_of

_NUMBERS = (numbers.Real, np.bool_, Decimal)


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
    rows = [np.nan if _is_none(each) else each for each in rows_of(weights, name="sample_weight")]
    if strange := [
        each for each in rows if not isinstance(each, _NUMBERS) or isinstance(each, np.timedelta64)
    ]:
        raise UsageError(f"sample_weight: expected {count} numbers, got {strange[0]!r:.60}")
    values = np.asarray([number_of(each) if isinstance(each, int) else each for each in rows], np.float64)
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


def _is_none(weight: object) -> bool:
    """Return whether a weight is missing; a signaling NaN is too, which no float can hold."""
    return weight is None or (isinstance(weight, Decimal) and weight.is_snan())


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
