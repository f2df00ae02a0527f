"""The activations the papers use, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from torch import Tensor
from torch.nn import functional

Activation = Literal["elu", "relu", "linear"]

_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "elu": functional.elu,
    "relu": functional.relu,
    "linear": lambda x: x,
}


def activate(x: Tensor, name: Activation) -> Tensor:
    """Apply an activation by name: "elu" (alpha 1), "relu" or "linear" (none)."""
    return _FUNCTIONS[name](x)
