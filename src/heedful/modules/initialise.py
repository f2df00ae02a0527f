"""The start that TensorFlow 1 gives to a weight without an initialiser of its own."""

from __future__ import annotations

from torch import Tensor, nn


def glorot_uniform(weight: Tensor, fan_in: int, fan_out: int, field: int = 1) -> None:
    """Fill in place, uniform within ``sqrt(6 / (field * (fan_in + fan_out)))``.

    For a tensor of more than two axes TensorFlow multiplies both fans by the product of all leading axes; a vector of n
    numbers has fans (n, n). The published baselines inherit both, which makes some layers start far smaller, and some
    biases away from zero.

    Args:
        weight: what is filled, any shape.
        fan_in: second to last axis of TensorFlow's variable.
        fan_out: its last axis.
        field: product of the axes before them.
    """
    limit = (6 / (field * (fan_in + fan_out))) ** 0.5
    nn.init.uniform_(weight, -limit, limit)
