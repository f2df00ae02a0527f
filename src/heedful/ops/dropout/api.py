"""Dropout: one signature for every device and precision."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.ops.dropout.operator import drop
from heedful.ops.dropout.reference import STEPS

_SEEDS = 2**63 - 1


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Set elements to zero with probability p and multiply the others by ``1 / (1 - p)`` (Srivastava et al., 2014).

    The mask is a function of a seed and the element's index in row-major order (Philox4x32-10), and the seed is one
    draw from torch's CPU generator: `torch.manual_seed` repeats it. It is the same for every device, dtype, number of
    threads and instruction set, and with or without compiled kernels; the backward pass computes it again instead of
    keeping it. `torch.nn.functional.dropout` draws other masks from the same seed.

    Args:
        x: floating point, any shape and strides.
        p: probability of dropping, in [0, 1). It is rounded to a multiple of 2⁻¹⁶, at most 1 - 2⁻¹⁶, and the
            multiplier follows the rounded value: the expectation is x for every p.
        training: False returns x itself, as p = 0 does; neither draws a seed.

    Returns:
        A contiguous tensor with the shape and dtype of x. A dropped element is zero also where x is not finite.

    Raises:
        UsageError: if p is outside [0, 1) or x is not floating point.
    """
    if not 0 <= p < 1:
        raise UsageError(f"p is the probability of dropping, in [0, 1); got {p}")
    if not x.is_floating_point():
        raise UsageError(f"x must be floating point; got {x.dtype}")
    if not training or p == 0:
        return x
    seed = torch.randint(_SEEDS, (), device="cpu")
    return drop(x, seed, min(round(p * STEPS), STEPS - 1))
