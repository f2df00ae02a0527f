"""Sentences whose words have a teacher's answers beside their gold tags, as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.batching import collate
from heedful.data.encoding import EncodedDataset
from heedful.data.examples import WordTags, ragged_of
from heedful.data.tokens import TokenizedCorpus
from heedful.data.transfer_set import StudentReading
from heedful.data.word_tags import NOT_COUNTED, WordTagDataset, word_offsets
from heedful.structures import Batch


@dataclass(frozen=True, eq=False, kw_only=True)
class TaughtTags(WordTagDataset):
    """Sentences as numbers, with gold tags where there are any, and a teacher's answers.

    Attributes:
        tags: number of each word's tag, -1 where there is none.
        taught: probabilities of the tags of each word, end to end, [T, Y] float32; zeros where there is no answer.
        gold: how many sentences, the first ones, have gold.
    """

    gold: int
    taught: NDArray[np.float32]

    def select(self, indices: NDArray[np.int64]) -> TaughtTags:
        """Return the examples at these positions (not file rows), in this order."""
        chosen = cast(TaughtTags, super().select(indices))
        offsets = word_offsets(self)
        rows = [np.arange(offsets[row], offsets[row + 1]) for row in indices.tolist()]
        return replace(chosen, taught=self.taught[np.concatenate([np.zeros(0, np.int64), *rows])])


def collate_taught_tags(dataset: TaughtTags, indices: NDArray[np.int64]) -> Batch:
    """Pad chosen examples to a batch.

    Args:
        dataset: the examples.
        indices: positions in the data set (not file rows), [B].

    Returns:
        The batch, its targets [B, L, 1 + Y] float32: the number of each word's tag, -1 without gold and at padding, and
        the teacher's probabilities.
    """
    chosen: TaughtTags = dataset.select(indices)
    lengths = chosen.words()[:, 0]
    valid = np.arange(max(1, int(lengths.max(initial=0)))) < lengths[:, None]
    targets = np.zeros((*valid.shape, 1 + chosen.taught.shape[1]), np.float32)
    targets[..., 0] = NOT_COUNTED
    assert chosen.tags is not None  # -1 where there is no gold
    targets[valid] = np.concatenate([chosen.tags.values[:, None].astype(np.float32), chosen.taught], axis=1)
    return replace(collate(dataset, indices), targets=torch.from_numpy(targets))


def taught_tags(
    dataset: EncodedDataset,
    tags: list[NDArray[np.int32]],
    taught: list[NDArray[np.float32]],
    labels: tuple[str, ...],
) -> TaughtTags:
    """Put answers beside encoded sentences.

    Args:
        dataset: the sentences, without targets.
        tags: numbers of the gold tags of each; fewer than there are sentences where the last have none.
        taught: probabilities of the tags of the words of each, [L, Y].
        labels: the tags in the order of their numbers.

    Returns:
        The data set; of a sentence that was cut the first words count.
    """
    lengths = dataset.words()[:, 0].tolist()
    none = [np.full(length, NOT_COUNTED, np.int32) for length in lengths[len(tags) :]]
    gold = [own[:length] for own, length in zip([*tags, *none], lengths, strict=True)]
    empty = np.zeros((0, len(labels)), np.float32)
    rows = np.concatenate([empty, *(own[:length] for own, length in zip(taught, lengths, strict=True))])
    fields = {"gold": len(tags), **vars(dataset), "targets": None, "labels": labels}
    return TaughtTags(**fields, tags=ragged_of(gold), taught=rows)


def encode_taught_tags(
    corpus: TokenizedCorpus,
    reading: StudentReading,
    gold: int,
    labels: tuple[str, ...],
    taught: NDArray[np.float32],
) -> TaughtTags:
    """Turn sentences that a teacher answered into numbers.

    Args:
        corpus: the words; the targets of the first are `WordTags`.
        reading: how they become numbers.
        gold: how many sentences, the first ones, have gold.
        labels: the tags in the order of their numbers.
        taught: probabilities of the tags of each word, end to end, [T, Y].

    Returns:
        The data set.
    """
    number = {tag: place for place, tag in enumerate(labels)}
    known = [
        np.array([number[tag] for tag in target.tags], np.int32)
        for target in corpus.targets[:gold]
        if isinstance(target, WordTags)
    ]
    rows = np.split(taught, np.cumsum(corpus.lengths()[:, 0])[:-1])
    return taught_tags(reading.encoded(corpus), known, rows, labels)
