"""From encoded examples to one padded batch of tensors."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.encode import EncodedDataset
from heedful.data.heads import distances
from heedful.data.pieces import between_pieces
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
        sides=tuple(_side(dataset, number, indices) for number in range(len(dataset.sides))),
        targets=targets,
        rows=tuple(dataset.rows[indices].tolist()),
    )
    return batch if device is None else batch.to(device)


def _side(dataset: EncodedDataset, number: int, indices: NDArray[np.int64]) -> Sentences:
    ids, valid = padded(dataset.sides[number], indices)
    words = padded(dataset.places[number], indices)[0] if dataset.places else None
    tree = None
    if dataset.heads:
        heads = dataset.heads[number]
        longest = max(1, int(heads.lengths()[indices].max(initial=0)))
        tree = distances(heads, indices, longest)
        tree = tree if words is None else between_pieces(tree, words, valid)
    return Sentences(
        torch.from_numpy(ids),
        torch.from_numpy(valid),
        None if tree is None else torch.from_numpy(tree),
        None if words is None else torch.from_numpy(words),
    )


def padded(
    rows: Ragged, indices: NDArray[np.int64], fill: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Pad chosen rows to the longest of them.

    Args:
        rows: the rows.
        indices: which, [B].
        fill: what stands where a row has ended.

    Returns:
        The values and which of them are there, both [B, L]; L is at least 1.
    """
    chosen = rows.take(indices)
    valid = np.arange(max(1, int(chosen.lengths().max(initial=0)))) < chosen.lengths()[:, None]
    values = np.full(valid.shape, fill, np.int64)
    values[valid] = chosen.values  # row by row, the places that are valid take the values in order
    return values, valid
