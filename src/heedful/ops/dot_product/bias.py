"""What is added to the scores of each head: built once a forward pass, used by every layer."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.masks.visibility import Visible, dense_keep


def hidden_score(dtype: torch.dtype) -> float:
    """Return what stands for minus infinity: finite, so that a row with nothing visible is not NaN.

    Args:
        dtype: floating-point type of the scores.

    Returns:
        Half the smallest number of the type.
    """
    return torch.finfo(dtype).min / 2


def head_bias(
    visible: Sequence[Visible],
    distances: Sequence[Tensor | None],
    alpha: float,
    valid: Tensor,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Write masks and distances as one additive term a head.

    ``M_hij = -alpha * distance_hij`` where head h lets query i see key j, minus infinity elsewhere (MS-SAN, Eq. 5);
    minus infinity is `hidden_score`.

    Args:
        visible: which keys a query may see, one entry a head: a `Band`, or booleans [L, L] or [B, L, L].
        distances: steps between two tokens, one entry a head, at least 0: [L, L] or [B, L, L], any number type; None
            for a head without distance.
        alpha: weight of the distances.
        valid: True at a real token, [B, L] bool.
        dtype: of the result; take that of the queries.

    Returns:
        The bias, [B, H, L, L]; give it to every layer's `masked_head_attention`.

    Raises:
        UsageError: if the lists differ in length or are empty, or a shape is wrong.
    """
    if not visible or len(visible) != len(distances):
        raise UsageError(
            f"visible and distances must have one entry a head; got {len(visible)} and {len(distances)}"
        )
    batch, length = valid.shape
    bias = torch.zeros(batch, len(visible), length, length, dtype=dtype, device=valid.device)
    for head, (rule, distance) in enumerate(zip(visible, distances, strict=True)):
        if distance is not None:
            if distance.shape not in ((length, length), (batch, length, length)):
                raise UsageError(
                    f"distances[{head}] must be [L, L] or [B, L, L] = [{batch}, {length}, {length}]; got "
                    f"{list(distance.shape)}"
                )
            bias[:, head] = distance.to(dtype) * -alpha
        bias[:, head].masked_fill_(~dense_keep(rule, valid), hidden_score(dtype))
    return bias
