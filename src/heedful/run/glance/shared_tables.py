"""Tables that reports of several kinds of models have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example
from heedful.run.glance.sections import Table
from heedful.run.glance.slices import Lengthy, slices_of
from heedful.tables import counted, percent

_SLICES, _BINS = 20, 10
MOST_IN_ORDER = 20
"""Classes that a terminal shows of a model."""


def slice_table(
    examples: Sequence[Example], answers: Sequence[Lengthy], right: NDArray[np.bool_], read: Sequence[str]
) -> tuple[Table, ...]:
    """Return a table of slices, the weakest first; none where there are no slices.

    Args:
        examples: the rows, with the fields of the file.
        answers: to each.
        right: whether it is right, [N].
        read: columns that make no slices.

    Returns:
        The table.
    """
    found = slices_of(examples, answers, right, read)[:_SLICES]
    rows = tuple(
        (
            each.name,
            f"{each.count:,}",
            counted(each.accuracy),
            f"{100 * each.interval.low:.1f} to {100 * each.interval.high:.1f} %",
            "weak" if each.weak else "",
        )
        for each in found
    )
    strong = frozenset(k for k, each in enumerate(found) if each.weak)
    return (Table(("rows with", "rows", "right", "95 % interval", "note"), rows, strong),) if rows else ()


def by_rows(counts: Sequence[int]) -> list[int]:
    """Order classes: as they come, or of so many that not all are shown at once those that most rows have first.

    Args:
        counts: rows of each class, [Y].

    Returns:
        The places of the classes.
    """
    places = list(range(len(counts)))
    return sorted(places, key=lambda place: -counts[place]) if len(places) > MOST_IN_ORDER else places


def score_cells(count: int, *scores: float) -> tuple[str, ...]:
    """Write precision, recall and F1; a class that no row has can be found neither well nor badly."""
    return tuple(f"{each:.3f}" if count else "-" for each in scores)


def calibration_table(shares: NDArray[np.float64], right: NDArray[np.bool_], what: str) -> tuple[Table, ...]:
    """Return a table of probabilities against how often they come true.

    Args:
        shares: the probabilities, [N].
        right: whether what each of them is of is so, [N].
        what: what they are of, as the head of the last column.

    Returns:
        The table.
    """
    place = np.clip((shares * _BINS).astype(int), 0, _BINS - 1)
    rows = tuple(
        (
            f"{100 * k // _BINS} to {100 * (k + 1) // _BINS} %",
            percent(float(shares[place == k].mean())),
            counted(float(right[place == k].mean())),
            f"{int((place == k).sum()):,}",
        )
        for k in np.unique(place).tolist()
    )
    return (Table(("probability", "on average", "came true", what), rows),) if rows else ()
