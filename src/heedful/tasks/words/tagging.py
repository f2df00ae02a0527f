"""What the models share that give every word of a text a tag: tagging in batches, and words as written."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Example
from heedful.model.decisions.decision import finite
from heedful.structures import Batch
from heedful.tasks.saved_model import A_co
from heedful.tasks.words.text_model import TextModel
from heedful.text.tokenize import Placed


@dataclass(frozen=True)
class TaggedWords:
    """The tags of the words of examples, end to end.

    Attributes:
        numbers: of the tag of each word, [T] int64.
        probabilities: of that tag, each word by itself, [T] float32.
    """

    numbers: NDArray[np.int64]
    probabilities: NDArray[np.float32]


class TaggingModel(TextModel[A_co]):
    """A model that gives every word a tag; see `TextModel` for the arguments. Its labels are the tags."""

    @abstractmethod
    def padded(self, dataset: EncodedDataset, indices: NDArray[np.int64]) -> Batch:
        """Pad chosen examples to a batch on the model's device."""

    @abstractmethod
    def decode(self, scores: Tensor, valid: Tensor) -> Tensor:
        """Choose the tags, [B, L] int64, of log-probabilities [B, L, Y] where ``valid`` [B, L] is True."""

    @torch.inference_mode()
    def tag(self, dataset: EncodedDataset) -> TaggedWords:
        """Give every word its tag.

        Args:
            dataset: encoded examples.

        Returns:
            The most probable sequences of tags that fit together, in the rows of the data set.

        Raises:
            ArtifactError: if the network gives a number that is not finite.
        """
        self.network.eval()
        rows = dataset.sides[0]
        numbers = np.zeros(len(rows.values), np.int64)
        probabilities = np.zeros(len(rows.values), np.float32)
        for indices in self.batches(dataset):
            batch = self.padded(dataset, indices)
            valid = batch.sides[0].valid
            scores = torch.log_softmax(self.network(batch).logits.float(), dim=-1)
            tags = self.decode(scores, valid)
            places = rows.places(indices)
            numbers[places] = tags[valid].cpu().numpy()
            chosen = scores.gather(-1, tags[..., None])[..., 0].exp()
            probabilities[places] = chosen[valid].cpu().numpy()
        return TaggedWords(numbers, finite("prediction", probabilities))

    def words_of(self, example: Example, length: int) -> Placed:
        """Return what was read of a text.

        Args:
            example: the text.
            length: how many words were read.

        Returns:
            The words, their places in the text, and the text.
        """
        ready = example.words[0] if example.words else None
        return self.text.cutter.placed(example.texts[0] if ready is None else ready).head(length)
