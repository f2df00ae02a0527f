"""What the models share that give every word of a text a tag: their logits in batches, and words as written."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Example
from heedful.data.word_tags import in_windows, windows_that_fit, word_offsets
from heedful.model.decisions import TagsDecision
from heedful.model.decisions.decision import finite_row
from heedful.model.engine import NO_NETWORK, Floats
from heedful.runtime.tag_part import tags_decision
from heedful.structures import Batch
from heedful.tasks.saved_model import A_co
from heedful.tasks.words.text_model import TextModel
from heedful.text.tokenize import Placed
from heedful.text.vocabulary import PieceVocabulary


class TaggingModel(TextModel[A_co]):
    """A model that gives every word a tag; see `TextModel` for the arguments. Its labels are the tags."""

    reads_whole: ClassVar[bool] = True

    @property
    def decision(self) -> TagsDecision:
        """See `Model.decision`."""
        return tags_decision(self.labels, self.about.tagging)

    @abstractmethod
    def padded(self, dataset: EncodedDataset, indices: NDArray[np.int64]) -> Batch:
        """Pad chosen examples to a batch on the model's device."""

    def network_logits(self, dataset: EncodedDataset) -> Iterator[tuple[NDArray[np.int64], list[Floats]]]:
        """Yield the network's logits of texts, batch by batch, without what a linear part adds.

        Args:
            dataset: encoded examples; one of more words than `max_tokens` is read in windows, so that each has a tag.

        Yields:
            Positions in the data set, and for each the logits of its words, [L, Y]; 0 without a network.

        Raises:
            ArtifactError: if one is not finite; names the text.
        """
        lengths = dataset.words()[:, 0]
        if self.model.encoder == NO_NETWORK:
            yield np.arange(len(dataset)), [np.zeros((n, len(self.labels)), np.float32) for n in lengths]
            return
        self.network.eval()
        long = np.flatnonzero(
            (lengths > self.text.max_tokens) | (dataset.lengths()[:, 0] > self._most_pieces(dataset))
        )
        short = np.setdiff1d(np.arange(len(dataset)), long)
        part = dataset.select(short) if len(long) else dataset
        for indices in self.batches(part):
            yield short[indices], self._finite(short[indices], self._run(part, indices))
        for row in long:
            own = np.array([row])
            yield own, self._finite(own, [self._in_windows(dataset.select(own))])

    @staticmethod
    def _finite(rows: NDArray[np.int64], logits: list[Floats]) -> list[Floats]:
        return [
            finite_row("prediction", own, row + 1) for row, own in zip(rows.tolist(), logits, strict=True)
        ]

    @torch.inference_mode()
    def _run(self, dataset: EncodedDataset, indices: NDArray[np.int64]) -> list[Floats]:
        logits = self.network(self.padded(dataset, indices)).logits.float().cpu().numpy()
        lengths = dataset.words()[indices, 0].tolist()
        return [own[:length] for own, length in zip(logits, lengths, strict=True)]

    def _in_windows(self, text: EncodedDataset) -> Floats:
        """Return the network's logits of one text that is longer than it reads at a time, [L, Y]."""
        limit = self._most_pieces(text)
        cut = windows_that_fit(text, self.text.max_tokens, limit)
        windows, found = in_windows(text, cut, limit), np.zeros((cut[-1].last, len(self.labels)), np.float32)
        for indices in self.batches(windows):
            for k, own in zip(indices.tolist(), self._run(windows, indices), strict=True):
                start, _, first, last = cut[k]
                found[first:last] = own[first - start : last - start]
        return found

    def _most_pieces(self, dataset: EncodedDataset) -> int:
        """Return how many word pieces the network reads at a time; of words there is no such limit."""
        vocabulary = self.vocabulary
        if not dataset.places or not isinstance(vocabulary, PieceVocabulary):
            return sys.maxsize
        return vocabulary.rules.limit

    def logits_of_texts(self, dataset: EncodedDataset) -> Iterator[tuple[NDArray[np.int64], list[Floats]]]:
        """Yield the logits of texts with all that is added to them, batch by batch; see `network_logits`."""
        return self.network_logits(dataset)

    def tag(self, dataset: EncodedDataset) -> NDArray[np.int64]:
        """Give every word its tag.

        Args:
            dataset: encoded examples.

        Returns:
            The numbers of the tags of the most probable sequences that fit together, [T], in the rows of the data set.

        Raises:
            ArtifactError: if the network gives a number that is not finite.
        """
        offsets, decision = word_offsets(dataset), self.decision
        numbers = np.zeros(int(offsets[-1]), np.int64)
        for indices, logits in self.logits_of_texts(dataset):
            for row, own in zip(indices.tolist(), decision.chosen(logits), strict=True):
                numbers[offsets[row] : offsets[row + 1]] = own
        return numbers

    def word_logits(self, dataset: EncodedDataset) -> list[Floats]:
        """Return the logits of the words of each text, [L, Y], in the order of the data set; see `logits_of_texts`."""
        found = [np.zeros((0, 0), np.float32)] * len(dataset)
        for indices, logits in self.logits_of_texts(dataset):
            for row, own in zip(indices.tolist(), logits, strict=True):
                found[row] = own
        return found

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
