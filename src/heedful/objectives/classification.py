"""Cross-entropy, one value an example."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return ``-log softmax(logits)[target]`` for each example.

    Args:
        logits: [B, Y].
        targets: class numbers, [B] int64.

    Returns:
        Loss of each example, [B].
    """
    return functional.cross_entropy(logits, targets, reduction="none")
