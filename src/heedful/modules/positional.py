"""Sinusoids of the position that are added to word vectors."""

from __future__ import annotations

import torch
from torch import Tensor


def positional_signal(
    length: int, width: int, like: Tensor, *, start: int = 0, exponent: float = 2.0
) -> Tensor:
    """Return sinusoids of the position whose wave length grows with the feature.

    Even feature f: ``sin(i / 10000^(e f / D))``; odd feature f: ``cos(i / 10000^(e (f - 1) / D))``. Vaswani et al.
    (2017) have e = 1; the published multi-head baseline of DiSAN and MTSA has 2.

    Args:
        length: tokens L.
        width: features D.
        like: gives device and dtype.
        start: position of the first token.
        exponent: e.

    Returns:
        [L, D].
    """
    position = torch.arange(start, start + length, device=like.device, dtype=torch.float64)
    even = torch.arange(width, device=like.device) // 2 * 2
    angle = position[:, None] * 10000.0 ** (-exponent * even.to(torch.float64) / width)
    is_even = torch.arange(width, device=like.device) % 2 == 0
    return torch.where(is_even, angle.sin(), angle.cos()).to(like.dtype)
