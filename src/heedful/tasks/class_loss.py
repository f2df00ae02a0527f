"""What a model of classes learns from: the cross-entropy, weighted and smoothed, and what a teacher says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import UsageError, check_known
from heedful.nn.losses import cross_entropy, divergence
from heedful.nn.policy import with_policy
from heedful.storage.fields import Fields
from heedful.structures import NetworkOutput
from heedful.training.train_settings import TrainSettings

if TYPE_CHECKING:
    from heedful.run.run_config import DistilConfig

LOSS = frozenset({"train.class_weight", "train.class_weights", "train.label_smoothing"})
"""Settings of the loss of a class."""


def loss_of_classes(
    output: NetworkOutput, targets: Tensor, *, smoothing: float, weights: Tensor | None
) -> Tensor:
    """Return the cross-entropy of each example, [B], and what a policy of masks adds.

    Args:
        output: of the network.
        targets: numbers of the classes, [B].
        smoothing: of the labels, from 0 to 1.
        weights: how much the examples of each class count, [Y]; None where all count alike.

    Returns:
        [B].
    """
    return with_policy(cross_entropy(output.logits, targets, smoothing, weights), output.policies)


def distilled_loss(
    output: NetworkOutput, targets: Tensor, *, smoothing: float, weights: Tensor | None, distil: DistilConfig
) -> Tensor:
    """Add what is learned from a teacher to the loss on gold.

    Args:
        output: of the network.
        targets: number of the class, -1 for none, and behind it what a teacher says; see `Prepared.transfer`.
        smoothing: see `loss_of_classes`.
        weights: likewise.
        distil: how much gold and teacher count.

    Returns:
        [B].
    """
    classes = output.logits.shape[-1]
    number, taught, vectors = targets[:, 0].long(), targets[:, 1 : 1 + classes], targets[:, 1 + classes :]
    gold = cross_entropy(output.logits, number.clamp(min=0), smoothing, weights)
    losses = distil.weight * gold * (number >= 0)
    losses = losses + (1 - distil.weight) * divergence(output.logits, taught, distil.temperature)
    if distil.vectors:
        away = (torch.cat(output.vectors, dim=-1) - vectors).square().mean(dim=-1)
        losses = losses + distil.vectors * away * (taught.sum(dim=-1) > 0)
    return with_policy(losses, output.policies)


def weights_of_classes(
    train: TrainSettings,
    gold: NDArray[np.int64],
    labels: Sequence[str],
    counted: NDArray[np.float32] | None = None,
) -> Tensor | None:
    """Return how much the examples of each class count.

    Args:
        train: settings that say so.
        gold: number of the class of each training example, [N].
        labels: names of the classes, Y.
        counted: how much each training example counts, [N]; None where all count alike.

    Returns:
        [Y]; None where all count alike.

    Raises:
        UsageError: if a setting names a class that there is none of.
    """
    for name in train.class_weights:
        check_known(name, labels, f"train.class_weights: there is no class {name!r}")
    if train.class_weight == "none" and not train.class_weights:
        return None
    weights = np.ones(len(labels))
    if train.class_weight == "balanced":
        counts = np.bincount(gold, counted, minlength=len(labels))
        weights = counts.sum() / (np.count_nonzero(counts) * np.where(counts > 0, counts, 1))
    weights_of = Fields(train.class_weights, "", "train.class_weights.", UsageError)
    factors = [float(weights_of.number(label, 1.0)) for label in labels]
    return torch.from_numpy(weights * np.array(factors)).float()
