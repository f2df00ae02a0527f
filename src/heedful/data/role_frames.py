"""Frames as numbers: one example a predicate, with the sentence, the predicate's place and the tags of its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self, cast

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.batching import collate, padded
from heedful.data.encoding import EncodedDataset, Truncate, encode
from heedful.data.examples import Frame, Ragged
from heedful.data.tokens import TokenizedCorpus, place
from heedful.errors import DataError, UsageError
from heedful.structures import TaggedBatch
from heedful.text.bio import mistake_in
from heedful.text.vocabulary import AnyVocabulary

NOT_COUNTED = -1
"""Target of a word that the loss leaves out."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TaggedDataset(EncodedDataset):
    """Sentences as numbers, one example a predicate; a sentence without predicates is one example too.

    Attributes:
        predicates: place of the predicate that the example asks about, from 0, [N] int64; -1 for none.
        sentences: number of each example's sentence in the corpus, [N] int64.
        tags: number of each word's tag, in the rows of the sentences, -1 without a predicate; None without gold.
        found: 1 at a predicate, 0 elsewhere, in the first example of a sentence; -1 in its others and at a predicate
            without tags. None without gold.
        cut_off: predicates of the gold behind the limit on length, and arguments that are not read to their end, where
            they were counted.
    """

    predicates: NDArray[np.int64]
    sentences: NDArray[np.int64]
    tags: Ragged | None = None
    found: Ragged | None = None
    cut_off: tuple[int, int] = (0, 0)

    def select(self, indices: NDArray[np.int64]) -> TaggedDataset:
        """Return the examples at these positions (not file rows), in this order."""
        return replace(
            cast(TaggedDataset, super().select(indices)),
            predicates=self.predicates[indices],
            sentences=self.sentences[indices],
            tags=None if self.tags is None else self.tags.take(indices),
            found=None if self.found is None else self.found.take(indices),
        )

    def further(self) -> dict[str, NDArray[np.generic]]:
        """See `EncodedDataset.further`."""
        gold = {"tags": self.tags, "found": self.found}
        return {"predicates": self.predicates, "sentences": self.sentences} | {
            name: column.values for name, column in gold.items() if column is not None
        }

    @classmethod
    def with_further(cls, dataset: EncodedDataset, arrays: Mapping[str, NDArray[np.generic]]) -> Self:
        """See `EncodedDataset.with_further`."""
        offsets = dataset.sides[0].offsets
        tags, found = (
            Ragged(np.asarray(arrays[name], np.int32), offsets) if name in arrays else None
            for name in ("tags", "found")
        )
        predicates, sentences = (np.asarray(arrays[name], np.int64) for name in ("predicates", "sentences"))
        return cls(**vars(dataset), predicates=predicates, sentences=sentences, tags=tags, found=found)


def encode_frames(
    corpus: TokenizedCorpus,
    vocabulary: AnyVocabulary,
    tags: Sequence[str],
    *,
    max_tokens: int | None = None,
    truncate: Truncate = "error",
) -> TaggedDataset:
    """Turn sentences with frames into numbers.

    Args:
        corpus: the words; its targets are frames, None for a sentence of which nothing is known. A frame without tags,
            such as one whose spans nest, gives no example, and its word is not counted.
        vocabulary: gives each word its row.
        tags: all tags that a model knows in the order of their numbers; others of the gold are added to the labels of
            the data set, as gold that no answer meets.
        max_tokens: longest sentence allowed; None for no limit.
        truncate: what happens to a longer one: "error", or "head" to keep its beginning. A predicate that is cut off
            is left out.

    Returns:
        The examples, those of a sentence in the order of its frames.

    Raises:
        DataError: naming the row: a sentence is too long, a frame does not fit its sentence, or no frame has tags.
        UsageError: if the vocabulary is one of word pieces.
    """
    if not len(corpus):
        raise DataError(f"{corpus.source or 'data'}: there are no sentences")
    sentences = encode(corpus, vocabulary, max_tokens=max_tokens, truncate=truncate)
    kept = [
        [frame for frame in _frames_of(corpus, number, whole) if frame.predicate < length]
        for number, (whole, length) in enumerate(
            zip(corpus.lengths()[:, 0].tolist(), sentences.lengths()[:, 0].tolist(), strict=True)
        )
    ]
    _check_arguments(corpus)
    tagged = [[frame for frame in frames if frame.tags] for frames in kept]
    dataset = examples_of_predicates(sentences, [[frame.predicate for frame in frames] for frames in tagged])
    asked = [frame for frames in tagged for frame in (frames or (None,))]
    labels = (*tags, *_unknown(asked, tags))
    return replace(dataset, labels=labels, tags=_tags(asked, dataset, labels), found=_found(kept, dataset))


def examples_of_predicates(sentences: EncodedDataset, predicates: Sequence[Sequence[int]]) -> TaggedDataset:
    """Make one example of each predicate, without gold.

    Args:
        sentences: single texts as numbers.
        predicates: places of the predicates of each, from 0; a sentence without any gives one example too.

    Returns:
        The examples, those of a sentence in the order of its predicates.

    Raises:
        UsageError: if the sentences are in word pieces.
    """
    if sentences.places:
        raise UsageError("semantic roles are read word by word: an encoder of word pieces cannot label them")
    counts = np.array([max(1, len(places)) for places in predicates], np.int64)
    number = np.repeat(np.arange(len(predicates)), counts)
    expanded = sentences.select(number)
    asked = [place for places in predicates for place in (places or (-1,))]
    return TaggedDataset(**vars(expanded), predicates=np.array(asked, np.int64), sentences=number)


def collate_frames(
    dataset: TaggedDataset, indices: NDArray[np.int64], device: torch.device | str | None = None
) -> TaggedBatch:
    """Pad chosen examples to a batch.

    Args:
        dataset: the examples.
        indices: positions in the data set (not file rows), [B].
        device: where to put the batch; None for the CPU.

    Returns:
        The batch, its targets [B, L, 2] int64: tags, and whether a word is a predicate; -1 where it is not counted.
    """
    batch = collate(dataset, indices)
    valid = batch.sides[0].valid
    flags = torch.arange(valid.shape[1]) == torch.from_numpy(dataset.predicates[indices])[:, None]
    targets = None
    if dataset.tags is not None and dataset.found is not None:
        columns = (padded(column, indices, NOT_COUNTED)[0] for column in (dataset.tags, dataset.found))
        targets = torch.from_numpy(np.stack(list(columns), axis=-1))
    tagged = TaggedBatch(batch.sides, targets, batch.rows, flags, weights=batch.weights)
    return tagged if device is None else tagged.to(device)


def _frames_of(corpus: TokenizedCorpus, number: int, length: int) -> tuple[Frame, ...]:
    """Return the frames of a sentence, checked against its number of words."""
    frames = corpus.targets[number]
    where = place(corpus.source, int(corpus.rows[number]))
    if frames is None:
        return ()
    if not isinstance(frames, tuple):
        raise DataError(f"{where}: expected frames of predicates, got {frames!r}")
    for frame in frames:
        if not 0 <= frame.predicate < length:
            raise DataError(
                f"{where}: a predicate at word {frame.predicate + 1}, but the sentence has {length} words"
            )
        if not frame.tags:
            continue
        if len(frame.tags) != length:
            raise DataError(
                f"{where}: {len(frame.tags)} tags for {length} words; does the tokenizer split words of the file?"
            )
        mistake = mistake_in(frame.tags)
        if mistake is not None:
            raise DataError(f"{where}, predicate {frame.predicate + 1}: {mistake}")
    return frames


def _check_arguments(corpus: TokenizedCorpus) -> None:
    """Refuse a file that names predicates alone: it has no gold."""
    named = [
        (row, any(frame.tags for frame in frames))
        for row, frames in zip(corpus.rows.tolist(), corpus.targets, strict=True)
        if isinstance(frames, tuple) and frames
    ]
    if named and not any(has_tags for _, has_tags in named):
        raise DataError(
            f"{place(corpus.source, named[0][0])}: the file names predicates but no arguments that could be learned or "
            "measured; give them as spans that do not nest, in brackets or in the column UP:ARGSPANS"
        )


def _unknown(asked: Sequence[Frame | None], tags: Sequence[str]) -> list[str]:
    """Return the tags of the gold that are not known; spans in them count as gold that no answer meets."""
    found = {tag for frame in asked if frame is not None for tag in frame.tags}
    return sorted(found - set(tags))


def _tags(asked: Sequence[Frame | None], expanded: EncodedDataset, tags: Sequence[str]) -> Ragged:
    rows = expanded.sides[0]
    values = np.full(len(rows.values), NOT_COUNTED, np.int32)
    of_tag = {tag: number for number, tag in enumerate(tags)}
    for frame, (start, end) in zip(asked, pairwise(rows.offsets.tolist()), strict=True):
        if frame is not None:
            values[start:end] = [of_tag[tag] for tag in frame.tags[: end - start]]
    return Ragged(values, rows.offsets)


def _found(kept: Sequence[Sequence[Frame]], expanded: EncodedDataset) -> Ragged:
    rows = expanded.sides[0]
    values = np.full(len(rows.values), NOT_COUNTED, np.int32)
    example = 0
    for frames in kept:
        start, end = rows.offsets[example : example + 2]
        values[start:end] = 0
        for frame in frames:
            values[int(start) + frame.predicate] = 1 if frame.tags else NOT_COUNTED
        example += max(1, sum(bool(frame.tags) for frame in frames))
    return Ragged(values, rows.offsets)
