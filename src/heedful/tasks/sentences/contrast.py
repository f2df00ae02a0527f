"""SetFit's way (Tunstall et al., 2022): texts of one class are drawn together and others apart, then a linear head.

The published form draws pairs of texts; here every two texts of a batch are a pair, which costs one pass of the encoder
a text and not one a pair, and each text of a batch has a partner of its own class in it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from heedful.errors import UsageError
from heedful.nn.heads import ClassifierHead
from heedful.structures import Batch, NetworkOutput
from heedful.training.step import TrainingData

ABSENT = -10.0
"""The logit of a class that no training example has."""


@dataclass(frozen=True)
class Partnered:
    """The batches of a data set in halves, each text with another one of its class, so that each is in a like pair.

    Attributes:
        data: the batches.
        classes: the class of each row, [N].
        seed: of the partners.
    """

    data: TrainingData
    classes: NDArray[np.int64]
    seed: int
    _rows: dict[int, list[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for row, number in enumerate(self.classes.tolist()):
            self._rows.setdefault(number, []).append(row)

    def batches(self, epoch: int) -> Sequence[Sequence[int]]:
        """Return the batches of an epoch, a pure function of seed and epoch."""
        dice = random.Random(f"{self.seed}/{epoch}")
        found = []
        for rows in self.data.batches(epoch):
            middle = (len(rows) + 1) // 2
            for half in (rows[:middle], rows[middle:]):
                if len(half):
                    partners = [self._partner(int(row), dice) for row in half]
                    found.append([*(int(row) for row in half), *partners])
        return found

    def collate(self, rows: Sequence[int]) -> Batch:
        """See `TrainingData.collate`."""
        return self.data.collate(rows)

    def _partner(self, row: int, dice: random.Random) -> int:
        """Draw another row of the same class; a class with one example has itself."""
        own = self._rows[int(self.classes[row])]
        place = int(dice.random() * max(1, len(own) - 1))
        return own[place] if own[place] != row else own[-1]


def contrast(output: NetworkOutput, targets: Tensor) -> Tensor:
    """Return the loss of each example, [B]: the square by which cosines miss 1 for its class and 0 for the others.

    Args:
        output: of the network; the vectors of its only side are compared.
        targets: numbers of the classes, [B].

    Returns:
        The mean over the texts of its class and that over all others, which count alike; where there are none of a kind
        it adds nothing.
    """
    vectors = functional.normalize(output.vectors[0].float(), dim=-1)
    cosines = vectors @ vectors.T
    like = targets[:, None] == targets[None, :]
    others = ~torch.eye(len(targets), dtype=torch.bool, device=targets.device)
    same, apart = like & others, ~like
    near = ((1 - cosines).square() * same).sum(dim=1) / same.sum(dim=1).clamp(min=1)
    far = (cosines.square() * apart).sum(dim=1) / apart.sum(dim=1).clamp(min=1)
    return (near + far) / 2


def fit_linear_head(
    head: ClassifierHead,
    vectors: NDArray[np.float32],
    classes: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> None:
    """Give a head the weights of a logistic regression over sentence vectors.

    Args:
        head: its hidden layer is linear and has room for the classes; see `check_head`.
        vectors: of the training texts, [N, D].
        classes: their numbers, [N].
        weights: how much each counts, [N].
    """
    from sklearn.linear_model import LogisticRegression

    length = float(np.linalg.norm(vectors, axis=1).mean()) or 1.0
    outputs = head.output.weight.shape[0]
    matrix, intercepts = np.zeros((outputs, vectors.shape[1])), np.full(outputs, ABSENT)
    present = np.unique(classes)
    if len(present) > 1:
        found = LogisticRegression(C=1.0, max_iter=1_000)
        found.fit(vectors / length, classes, sample_weight=weights)
        rows, own = found.coef_ / length, found.intercept_
        if len(present) == 2:
            rows, own = np.concatenate([-rows, rows]) / 2, np.concatenate([-own, own]) / 2
        matrix[present], intercepts[present] = rows, own
    else:
        intercepts[present] = 0.0
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    rank = min(len(sizes), head.hidden.weight.shape[0])
    assert head.hidden.bias is not None  # a hidden layer always has one
    assert head.output.bias is not None  # `check_head` looked
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.zero_()
        head.hidden.weight[:rank] = torch.from_numpy(right[:rank])
        head.output.weight[:, :rank] = torch.from_numpy(left[:, :rank] * sizes[:rank])
        head.output.bias.copy_(torch.from_numpy(intercepts))


def check_head(head: ClassifierHead) -> None:
    """Refuse a head that cannot be a linear one.

    Args:
        head: of the network.

    Raises:
        UsageError: naming the setting.
    """
    width, outputs = head.hidden.weight.shape[1], head.output.weight.shape[0]
    if head.hidden.activation != "linear" or not isinstance(head.highway, torch.nn.Identity):
        raise UsageError(
            "train.contrast ends with a linear head: set model.activation=linear and model.highway=false"
        )
    if head.output.bias is None:
        raise UsageError(
            "train.contrast ends with a linear head, which has a bias: set model.final_bias=true"
        )
    if head.hidden.weight.shape[0] < min(width, outputs):
        raise UsageError(
            f"train.contrast ends with a linear head of {outputs} classes: set model.hidden={min(width, outputs)} or "
            f"more; it is {head.hidden.weight.shape[0]}"
        )
