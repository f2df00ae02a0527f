"""The value of the L2 penalty."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.modules import regularised_parameters


def l2_penalty(module: nn.Module, weight_decay: float) -> Tensor:
    """Return ``weight_decay * 0.5 * sum(W ** 2)`` over the regularised matrices.

    Training adds its gradient, ``weight_decay * W``, inside the optimiser; this function is for reports and tests.

    Args:
        module: a network.
        weight_decay: the coefficient.

    Returns:
        A scalar.
    """
    parts = [weight.square().sum() for weight in regularised_parameters(module)]
    return 0.5 * weight_decay * torch.stack(parts).sum() if parts else torch.zeros(())
