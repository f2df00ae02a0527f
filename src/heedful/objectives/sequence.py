"""Cross-entropy of the tokens of a sequence, with label smoothing."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

NOT_COUNTED = -1
"""The target of a place that the loss leaves out."""


def sequence_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return ``-sum_t sum_y q_ty log softmax(logits_t)_y`` for each example, the sum over its own tokens.

    q puts ``1 - smoothing`` on the target and spreads the rest evenly over all Y (Szegedy et al., 2016). Being a sum,
    the loss of an example is minus its log-likelihood where nothing is smoothed, and every token of a batch counts the
    same whatever the length of its sentence.

    Args:
        logits: [B, T, Y].
        targets: class of each place, [B, T] int64; -1 where there is none.
        smoothing: in [0, 1).

    Returns:
        Loss of each example, [B].
    """
    losses = functional.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=NOT_COUNTED,
        reduction="none",
        label_smoothing=smoothing,
    )
    return losses.view(targets.shape).sum(dim=1)
