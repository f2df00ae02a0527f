"""Learning on with a network: its weights go on from those of the model before, which also teaches the new rows.

Words and classes that are new get rows of their own, which begin as those of a first training do. The answers of the
model before to the new rows are learned beside their gold (learning without forgetting; Li and Hoiem, 2016), so that
what the new rows say nothing of stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import UsageError
from heedful.nn.losses import cross_entropy
from heedful.nn.policy import with_policy
from heedful.structures import Batch, NetworkOutput
from heedful.tasks.words.text_model import TextModel
from heedful.text.vocabulary import Vocabulary
from heedful.training.step import TrainingData

NEW_BIAS = -1.0
"""Bias of the output of a new class, beside the mean of the old ones."""
TEMPERATURE = 2.0
"""At which the answers of the model before are learned."""
SHARE = 0.5
"""How much they count beside the gold."""
_LAST = "head.output"
"""The layer that gives the logits."""


def take_weights(model: TextModel[Any], before: TextModel[Any], name: str, *, sums: bool = False) -> None:
    """Give a network that has just been made the weights of the one before.

    Where there are new classes, and parts beside the network that learn them from sums over all rows, only its last
    layer goes on: rows of a new class say nothing of what the old ones need, and the few old rows that are kept would
    be learned by heart.

    Args:
        model: the new model, whose labels and words are those of the old one and new ones.
        before: the old model.
        name: what the old model is called, for messages.
        sums: whether parts beside the network learn from sums.

    Raises:
        UsageError: if the networks differ in more than words and classes.
    """
    own, old = model.network.state_dict(), before.network.state_dict()
    words = _rows_of_words(model, before)
    columns = torch.tensor([model.labels.index(label) for label in before.labels])
    for key, values in own.items():
        if key.endswith("embedding.frozen"):  # vectors as they were read, of words that no training had
            continue
        if key not in old:
            raise UsageError(f"{name}: its network has no {key}; learning on cannot change a network")
        given = old[key].to(values.dtype)
        if key.endswith("embedding.weight") and words is not None:
            places, there = words
            values[places] = given[there]
        elif values.shape == given.shape and not key.startswith(_LAST):
            values.copy_(given)
        elif values.shape[1:] == given.shape[1:] and len(given) == len(columns):
            if len(given) < len(values):
                values.copy_(given.mean(dim=0).expand_as(values))
                if values.ndim == 1:
                    values += NEW_BIAS
            values[columns] = given
        else:
            raise UsageError(
                f"{name}: its network has {key} of the shape {list(given.shape)}, and the settings ask for "
                f"{list(values.shape)}; learning on cannot change a network"
            )
    model.network.load_state_dict(own)
    if sums and len(before.labels) < len(model.labels):
        for key, parameter in model.network.named_parameters():
            parameter.requires_grad_(key.startswith(_LAST))


def _rows_of_words(model: TextModel[Any], before: TextModel[Any]) -> tuple[Tensor, Tensor] | None:
    """Return the rows of the words that training had before, and what they were; None for word pieces."""
    now, then = model.vocabulary, before.vocabulary
    if not isinstance(now, Vocabulary) or not isinstance(then, Vocabulary):
        return None
    there = {word: row for row, word in enumerate(now.trainable, 2)}
    pairs = [(there[word], row) for row, word in enumerate(then.trainable, 2) if word in there]
    return torch.tensor([one for one, _ in pairs]), torch.tensor([other for _, other in pairs])


@dataclass(frozen=True, eq=False)
class Recalled:
    """What the model before answers to the training examples.

    Attributes:
        logits: of its classes, [N, K] float32.
        columns: their numbers among the classes that there are now, [K].
    """

    logits: NDArray[np.float32]
    columns: NDArray[np.int64]

    @classmethod
    def of(cls, logits: NDArray[np.floating], old: Sequence[str], now: Sequence[str]) -> Recalled:
        """Take the logits of examples, [N, Y], of which the columns of new classes are left out."""
        columns = np.array([now.index(label) for label in old], np.int64)
        return cls(logits[:, columns].astype(np.float32), columns)

    def beside(self, data: TrainingData) -> TrainingData:
        """Return batches whose targets, [B, 1 + K], have these logits behind the number of the class."""
        return _Beside(data, torch.from_numpy(self.logits))

    def loss(
        self, output: NetworkOutput, targets: Tensor, *, smoothing: float, weights: Tensor | None
    ) -> Tensor:
        """Return the cross-entropy of each example, [B], and how far its answer moved from the one before.

        The latter compares the old classes alone, at `TEMPERATURE`, of examples of old classes: of new ones the model
        before knew nothing.

        Args:
            output: of the network.
            targets: from `beside`.
            smoothing: of the labels, from 0 to 1.
            weights: how much the examples of each class count, [Y]; None where all count alike.

        Returns:
            The loss of each example, [B].
        """
        gold = cross_entropy(output.logits, targets[:, 0].long(), smoothing, weights)
        columns = torch.from_numpy(self.columns).to(output.logits.device)
        teacher = torch.log_softmax(targets[:, 1:].to(output.logits.dtype) / TEMPERATURE, dim=-1)
        student = torch.log_softmax(output.logits[:, columns] / TEMPERATURE, dim=-1)
        away = TEMPERATURE**2 * (teacher.exp() * (teacher - student)).sum(dim=-1)
        share = SHARE * torch.isin(targets[:, 0].long(), columns)
        return with_policy((1 - share) * gold + share * away, output.policies)


@dataclass(frozen=True, eq=False)
class _Beside:
    data: TrainingData
    logits: Tensor

    def batches(self, epoch: int) -> Sequence[Sequence[int]]:
        return self.data.batches(epoch)

    def collate(self, rows: Sequence[int]) -> Batch:
        batch = self.data.collate(rows)
        assert batch.targets is not None  # a training batch
        own = self.logits[torch.as_tensor(np.asarray(rows, np.int64))]
        return replace(batch, targets=torch.cat([batch.targets[:, None].to(own.dtype), own], dim=1))
