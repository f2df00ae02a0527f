"""Sentences whose words are tagged, as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.batching import collate, padded
from heedful.data.encoding import EncodedDataset, Truncate, encode
from heedful.data.examples import Ragged, WordTags, ragged_of
from heedful.data.gold import Targets, has_gold
from heedful.data.tokens import TokenizedCorpus, place
from heedful.errors import DataError
from heedful.structures import Batch
from heedful.text.bio import mistake_in, scheme_of
from heedful.text.dependency import UNKNOWN
from heedful.text.vocabulary import AnyVocabulary
from heedful.text.windows import Window, windows_of

NOT_COUNTED = -1
"""Target of a word that the loss leaves out."""


@dataclass(frozen=True, eq=False, kw_only=True)
class WordTagDataset(EncodedDataset):
    """Sentences as numbers, with the tags of their words.

    Attributes:
        tags: number of each word's tag, in the rows of the sentences; None without gold.
    """

    tags: Ragged | None = None

    def select(self, indices: NDArray[np.int64]) -> WordTagDataset:
        """Return the examples at these positions (not file rows), in this order."""
        chosen = cast(WordTagDataset, super().select(indices))
        return replace(chosen, tags=None if self.tags is None else self.tags.take(indices))

    def further(self) -> dict[str, NDArray[np.generic]]:
        """See `EncodedDataset.further`."""
        return {} if self.tags is None else {"tags": self.tags.values}

    @classmethod
    def with_further(cls, dataset: EncodedDataset, arrays: Mapping[str, NDArray[np.generic]]) -> Self:
        """See `EncodedDataset.with_further`."""
        tags = (
            Ragged(np.asarray(arrays["tags"], np.int32), word_offsets(dataset)) if "tags" in arrays else None
        )
        return cls(**vars(dataset), tags=tags)


def word_offsets(dataset: EncodedDataset) -> NDArray[np.int64]:
    """Return where the words of each sentence begin, all end to end, and the end, [N + 1]."""
    return np.concatenate([[0], np.cumsum(dataset.words()[:, 0], dtype=np.int64)])


def encode_word_tags(
    corpus: TokenizedCorpus,
    vocabulary: AnyVocabulary,
    tags: Sequence[str],
    *,
    max_tokens: int | None = None,
    truncate: Truncate = "error",
    keeps_words: bool = False,
) -> WordTagDataset:
    """Turn sentences with tags into numbers.

    Args:
        corpus: the words; its targets are `WordTags`, None where there is no gold.
        vocabulary: gives each word its row.
        tags: all tags that a model knows in the order of their numbers; others of the gold are added to the labels of
            the data set, as gold that no answer meets.
        max_tokens: longest sentence allowed; None for no limit.
        truncate: what happens to a longer one; see `heedful.data.encoding.encode`.
        keeps_words: whether the words are kept too, for a linear part.

    Returns:
        The examples that have gold.

    Raises:
        DataError: naming the row: a sentence is too long, its tags do not fit its words, or they break BIO or BIOES
            where the model knows such tags.
    """
    own = _tags_of_each(corpus, tags)
    present = has_gold(corpus)
    targets = Targets(np.arange(len(corpus)), present)
    dataset = encode(
        corpus,
        vocabulary,
        targets,
        max_tokens=max_tokens,
        truncate=truncate,
        keeps_words=keeps_words,
        whole=True,
    )
    assert dataset.targets is not None  # they were given
    lengths = dataset.words()[:, 0].tolist()
    kept = [own[number][:length] for number, length in zip(dataset.targets.tolist(), lengths, strict=True)]
    labels = (*tags, *sorted({tag for sentence in kept for tag in sentence} - set(tags)))
    number = {tag: place for place, tag in enumerate(labels)}
    coded = ragged_of([np.array([number[tag] for tag in sentence], np.int32) for sentence in kept])
    return WordTagDataset(**{**vars(dataset), "targets": None, "labels": labels}, tags=coded)


def in_windows(text: EncodedDataset, windows: Sequence[Window], limit: int) -> EncodedDataset:
    """Cut one text into windows.

    Args:
        text: one example of one text.
        windows: from `windows_that_fit`.
        limit: word pieces of a window at most.

    Returns:
        An example for each window, without gold; a head outside of it is unknown.
    """
    rows = np.zeros(len(windows), np.int64)

    pieces = text.places[0][0] if text.places else None

    def cut(side: Ragged) -> Ragged:
        return ragged_of([side[0][window.start : window.end] for window in windows])

    def cut_pieces(side: Ragged) -> Ragged:
        assert pieces is not None  # the caller looked
        spans = np.searchsorted(pieces, [(window.start, window.end) for window in windows])
        return ragged_of([side[0][start : min(end, start + limit)] for start, end in spans])

    def places_from_0(side: Ragged) -> Ragged:
        found = cut_pieces(side)
        starts = np.array([window.start for window in windows], np.int32)
        return Ragged(found.values - np.repeat(starts, found.lengths()), found.offsets)

    def cut_heads(side: Ragged) -> Ragged:
        found = []
        for start, end, _, _ in windows:
            own = side[0][start:end]
            inside = (own > start) & (own <= end)
            found.append(np.where(inside, own - start, np.where(own == 0, 0, UNKNOWN)).astype(np.int32))
        return ragged_of(found)

    return EncodedDataset(
        sides=tuple(map(cut if pieces is None else cut_pieces, text.sides)),
        targets=None,
        rows=text.rows[rows],
        groups=text.groups[rows],
        group_names=text.group_names,
        labels=text.labels,
        report=text.report,
        heads=tuple(map(cut_heads, text.heads)),
        places=tuple(map(places_from_0, text.places)),
        spelled=tuple(map(cut, text.spelled)),
        ngrams=text.ngrams,
    )


def windows_that_fit(text: EncodedDataset, longest: int, limit: int) -> list[Window]:
    """Cut one text into windows of at most so many words, and of at most so many word pieces where it has pieces.

    Args:
        text: one example of one text.
        longest: words of a window.
        limit: pieces of a window; a single word of more is read by its first ones.

    Returns:
        The windows; every word is taken from exactly one.
    """
    length = int(text.words()[0, 0])
    size = max(min(longest, length), 1)
    if text.places:
        ends = np.concatenate([[0], np.cumsum(np.bincount(text.places[0][0], minlength=length))])
        while size > 1 and any(
            ends[window.end] - ends[window.start] > limit for window in windows_of(length, size)
        ):
            size = max(size * 3 // 4, 1)
    return windows_of(length, size)


def collate_word_tags(
    dataset: EncodedDataset, indices: NDArray[np.int64], device: torch.device | str | None = None
) -> Batch:
    """Pad chosen examples to a batch.

    Args:
        dataset: the examples.
        indices: positions in the data set (not file rows), [B].
        device: where to put the batch; None for the CPU.

    Returns:
        The batch, its targets [B, L] int64: the tag of each word, -1 at padding; None without gold.
    """
    batch = collate(dataset, indices)
    if isinstance(dataset, WordTagDataset) and dataset.tags is not None:
        batch = replace(batch, targets=torch.from_numpy(padded(dataset.tags, indices, NOT_COUNTED)[0]))
    return batch if device is None else batch.to(device)


def _tags_of_each(corpus: TokenizedCorpus, known: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the tags of each sentence, checked against its words; none where there is no gold."""
    scheme = scheme_of(known)
    found: list[tuple[str, ...]] = []
    for number, length in enumerate(corpus.lengths()[:, 0].tolist() if len(corpus) else []):
        target = corpus.targets[number]
        where = place(corpus.source, int(corpus.rows[number]))
        if target is None:
            found.append(())
            continue
        if not isinstance(target, WordTags):
            raise DataError(f"{where}: expected one tag a word, got {target!r:.80}")
        if len(target.tags) != length:
            raise DataError(
                f"{where}: {len(target.tags)} tags for {length} words; there must be one tag a word, and the tokenizer "
                "must not split the words"
            )
        if scheme != "plain" and (mistake := mistake_in(target.tags, scheme)):
            raise DataError(f"{where}, {mistake}")
        found.append(target.tags)
    return found
