"""Sentence lengths as groups, for accuracy by length (DiSAN, Figure 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EDGES = (5, 10, 15, 20, 25, 30, 40, 60, 100)
"""Longest sentence of each bin but the last, in tokens."""

NAMES = (
    *(f"{low + 1}-{high}" for low, high in zip((-1, *EDGES), EDGES, strict=False)),
    f"over {EDGES[-1]}",
)
"""Names of the bins, shortest first."""


def length_bins(lengths: NDArray[np.int64]) -> list[str]:
    """Name the bin of each example.

    Args:
        lengths: tokens of each text, [N, sides]; the longest text of an example counts.

    Returns:
        Names, [N].
    """
    places = np.searchsorted(EDGES, lengths.max(axis=1), side="left")
    return [NAMES[place] for place in places]
