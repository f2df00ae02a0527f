"""The compiled kernel in the form whose time is linear in the sentence; exact to float32 rounding."""

from __future__ import annotations

from torch import Tensor

from heedful.masks.visibility import Visible
from heedful.ops.additive.fused import run
from heedful.ops.types import AttentionResult

TOLERANCE = 2.0**-23
KEYS_PER_RANK = 6.0


def additive_linear(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    valid: Tensor,
    visible: Visible,
    scale: float,
    tolerance: float = TOLERANCE,
    keys_per_rank: float = KEYS_PER_RANK,
) -> AttentionResult:
    """Compute `heedful.ops.additive_attention` in time linear in the sentence.

    The number of terms follows from the range of the queries, for each sentence and group of features apart. Where
    the range is too wide or the sentence too short for this to pay, that part is computed pair by pair; both are exact
    to rounding.

    Args:
        query: b_i, [B, L, D]; bfloat16 and float16 are computed in float32.
        key: a_j, [B, L, D].
        value: h_j, [B, L, D].
        valid: True at a real token, [B, L].
        visible: a band of whole directions: all earlier keys, all later keys, or both, and the token itself or not.
        scale: c; scores lie in (-c, c).
        tolerance: largest relative error of exp(score) over queries in range and all keys; default float32 rounding.
        keys_per_rank: tokens a sentence needs for each term; below, pairs cost less (measured).

    Returns:
        output, in the dtype of query.
    """
    return run(query, key, value, valid, visible, scale, tolerance=tolerance, keys_per_rank=keys_per_rank)
