"""The positional signal of the multi-head baseline."""

from __future__ import annotations

import torch
from torch import Tensor


def positional_signal(length: int, width: int, like: Tensor) -> Tensor:
    """Return sinusoids of the position whose wave length grows with the feature.

    Even feature f: ``sin(i / 10000^(2 f / D))``; odd feature f: ``cos(i / 10000^(2 (f - 1) / D))``. The exponent is
    twice that of Vaswani et al. (2017), as in the published baseline.

    Args:
        length: tokens L.
        width: features D.
        like: gives device and dtype.

    Returns:
        [L, D].
    """
    position = torch.arange(length, device=like.device, dtype=torch.float64)
    even = torch.arange(width, device=like.device) // 2 * 2
    angle = position[:, None] * 10000.0 ** (-2 * even.to(torch.float64) / width)
    is_even = torch.arange(width, device=like.device) % 2 == 0
    return torch.where(is_even, angle.sin(), angle.cos()).to(like.dtype)
