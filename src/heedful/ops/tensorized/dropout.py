"""The attention dropout of tensorized attention: one multiplier for each factor of a weight."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class FactorDropout:
    """Multipliers 0 or ``1/sqrt(keep)`` of the two factors; drawn once, so every implementation can be given the same.

    Attributes:
        pairs: multiplies phi(q·k), [B, H, Q, K].
        source: multiplies exp(z), [B, H, K, C].
    """

    pairs: Tensor
    source: Tensor


def draw_dropout(source: Tensor, probability: float) -> FactorDropout:
    """Draw the multipliers from torch's generator.

    Args:
        source: z, [B, H, L, C]; gives shape, dtype and device.
        probability: chance that a weight is dropped; each factor keeps with ``sqrt(1 - probability)``.

    Returns:
        The multipliers.
    """
    keep = (1.0 - probability) ** 0.5
    batch, heads, length, _ = source.shape
    pairs = torch.empty(batch, heads, length, length, dtype=source.dtype, device=source.device)
    features = torch.empty(source.shape, dtype=source.dtype, device=source.device)
    return FactorDropout(pairs.bernoulli_(keep).div_(keep), features.bernoulli_(keep).div_(keep))
