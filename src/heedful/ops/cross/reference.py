"""Soft alignment written out sentence by sentence: the specification of the batched form."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.ops.cross.api import Alignment


def soft_align_reference(
    first_key: Tensor,
    second_key: Tensor,
    first: Tensor,
    second: Tensor,
    first_valid: Tensor,
    second_valid: Tensor,
) -> Alignment:
    """Compute `heedful.ops.soft_align` one pair at a time, on the real tokens alone: no masks, no padding.

    Args:
        first_key: F(a), [B, L1, C].
        second_key: F(b), [B, L2, C].
        first: a, [B, L1, D1].
        second: b, [B, L2, D2].
        first_valid: True at a real token, [B, L1] bool.
        second_valid: True at a real token, [B, L2] bool.

    Returns:
        Both alignments, zero at padding and where the other sentence has no words.
    """
    batch, length1, length2 = len(first), first.shape[1], second.shape[1]
    beta = first.new_zeros(batch, length1, second.shape[2])
    alpha = first.new_zeros(batch, length2, first.shape[2])
    there, back = (first.new_zeros(batch, length1, length2) for _ in range(2))
    for row in range(batch):
        rows1, rows2 = (valid[row].nonzero()[:, 0] for valid in (first_valid, second_valid))
        if not len(rows1) or not len(rows2):
            continue
        score = first_key[row, rows1] @ second_key[row, rows2].T
        cells = (torch.full_like(rows1, row)[:, None], rows1[:, None], rows2[None, :])
        there = there.index_put(cells, score.softmax(dim=1))
        back = back.index_put(cells, score.softmax(dim=0))
        beta = beta.index_put((cells[0][:, 0], rows1), score.softmax(dim=1) @ second[row, rows2])
        alpha = alpha.index_put(
            (torch.full_like(rows2, row), rows2), score.softmax(dim=0).T @ first[row, rows1]
        )
    return Alignment(beta, alpha, there, back)
