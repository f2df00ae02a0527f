"""What a model reads at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heedful.data.sampler import BucketSampler

_USUAL_LENGTH = 64
"""A batch takes about the memory of its usual number of sentences of this many tokens, however long they are."""


def even_batches(lengths: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """Cut examples into batches of similar length.

    Args:
        lengths: tokens of each text, [N] or [N, sides].
        size: most examples of a batch; where they are longer than 64 tokens, padded, it takes fewer.

    Returns:
        For each batch the positions of its examples; every example is in one.
    """
    if not len(lengths):
        return []
    sides = 1 if lengths.ndim == 1 else lengths.shape[1]
    sampler = BucketSampler(lengths, batch_size=size, max_tokens=size * _USUAL_LENGTH * sides, shuffle=False)
    return sampler.batches(0)
