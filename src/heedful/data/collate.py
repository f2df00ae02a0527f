"""From encoded examples to one padded batch of tensors."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.encode import EncodedDataset
from heedful.data.heads import distances
from heedful.data.ragged import Ragged
from heedful.structures import Batch, Sentences


def collate(
    dataset: EncodedDataset, indices: NDArray[np.int64], device: torch.device | str | None = None
) -> Batch:
    """Pad chosen examples to a batch, each side to its own longest text.

    Args:
        dataset: the encoded examples.
        indices: positions in the data set (not file rows), [B].
        device: where to put the batch; None for the CPU.

    Returns:
        The batch. L is at least 1, also where no text has words; validity comes from the lengths, so that an unknown
        word is a token like any other. Tree distances are there where the data set has heads.
    """
    indices = np.asarray(indices, dtype=np.int64)
    targets = None if dataset.targets is None else torch.from_numpy(dataset.targets[indices])
    batch = Batch(
        sides=tuple(
            _pad(side, indices, dataset.heads[number] if dataset.heads else None)
            for number, side in enumerate(dataset.sides)
        ),
        targets=targets,
        rows=tuple(dataset.rows[indices].tolist()),
    )
    return batch if device is None else batch.to(device)


def _pad(side: Ragged, indices: NDArray[np.int64], heads: Ragged | None) -> Sentences:
    starts = side.offsets[indices]
    lengths = side.offsets[indices + 1] - starts
    longest = max(1, int(lengths.max(initial=0)))
    valid = np.arange(longest) < lengths[:, None]
    ids = np.zeros(valid.shape, np.int64)
    # Row by row, the places that are valid take the words in order.
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    ids[valid] = side.values[np.repeat(starts, lengths) + within]
    tree = None if heads is None else torch.from_numpy(distances(heads, indices, longest))
    return Sentences(torch.from_numpy(ids), torch.from_numpy(valid), tree)
