"""The value of the L2 penalty."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.modules import l2_factors


def l2_penalty(module: nn.Module, weight_decay: float) -> Tensor:
    """Return ``weight_decay * 0.5 * sum(l2 * W ** 2)`` over the regularised matrices, l2 their multiple.

    Training adds its gradient, ``weight_decay * W``, inside the optimiser; this function is for reports and tests.

    Args:
        module: a network.
        weight_decay: the coefficient.

    Returns:
        A scalar.
    """
    parts = [factor * weight.square().sum() for weight, factor in l2_factors(module)]
    return 0.5 * weight_decay * torch.stack(parts).sum() if parts else torch.zeros(())
