"""Features that compare the vectors of two sentences."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from heedful.errors import UsageError, nearest

Matching = Literal["signed", "absolute"]


def match_features(first: Tensor, second: Tensor, *, matching: Matching = "signed") -> Tensor:
    """Concatenate two vectors and what sets them apart.

    Args:
        first: u, the premise, [B, D].
        second: v, the hypothesis, [B, D].
        matching: "signed" gives ``[u ; v ; u - v ; u * v]``, the features of DiSAN and MTSA; "absolute" gives
            ``[u ; v ; u * v ; |u - v|]``, those of MS-SAN, in their order.

    Returns:
        [B, 4 D].

    Raises:
        UsageError: if matching is unknown.
    """
    if matching == "signed":
        return torch.cat([first, second, first - second, first * second], dim=-1)
    if matching == "absolute":
        return torch.cat([first, second, first * second, torch.abs(first - second)], dim=-1)
    raise UsageError(f"matching={matching!r} is unknown: {nearest(str(matching), get_args(Matching))}")
