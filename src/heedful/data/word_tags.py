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
from heedful.errors import DataError, UsageError
from heedful.structures import Batch
from heedful.text.bio import mistake_in, scheme_of
from heedful.text.dependency import UNKNOWN
from heedful.text.vocabulary import AnyVocabulary
from heedful.text.windows import Window

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
            Ragged(np.asarray(arrays["tags"], np.int32), dataset.sides[0].offsets)
            if "tags" in arrays
            else None
        )
        return cls(**vars(dataset), tags=tags)


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
        UsageError: if the vocabulary is one of word pieces.
    """
    own = _tags_of_each(corpus, tags)
    present = has_gold(corpus)
    targets = Targets(np.arange(len(corpus)), present)
    dataset = encode(
        corpus, vocabulary, targets, max_tokens=max_tokens, truncate=truncate, keeps_words=keeps_words
    )
    if dataset.places:
        raise UsageError("words are tagged one by one: an encoder of word pieces cannot tag them")
    assert dataset.targets is not None  # they were given
    lengths = dataset.lengths()[:, 0].tolist()
    kept = [own[number][:length] for number, length in zip(dataset.targets.tolist(), lengths, strict=True)]
    labels = (*tags, *sorted({tag for sentence in kept for tag in sentence} - set(tags)))
    number = {tag: place for place, tag in enumerate(labels)}
    coded = ragged_of([np.array([number[tag] for tag in sentence], np.int32) for sentence in kept])
    return WordTagDataset(**{**vars(dataset), "targets": None, "labels": labels}, tags=coded)


def in_windows(text: EncodedDataset, windows: Sequence[Window]) -> EncodedDataset:
    """Cut one text into windows.

    Args:
        text: one example of one text.
        windows: from `heedful.text.windows.windows_of`.

    Returns:
        An example for each window, without gold; a head outside of it is unknown.
    """
    rows = np.zeros(len(windows), np.int64)

    def cut(side: Ragged) -> Ragged:
        return ragged_of([side[0][window.start : window.end] for window in windows])

    def cut_heads(side: Ragged) -> Ragged:
        found = []
        for start, end, _, _ in windows:
            own = side[0][start:end]
            inside = (own > start) & (own <= end)
            found.append(np.where(inside, own - start, np.where(own == 0, 0, UNKNOWN)).astype(np.int32))
        return ragged_of(found)

    return EncodedDataset(
        sides=tuple(map(cut, text.sides)),
        targets=None,
        rows=text.rows[rows],
        groups=text.groups[rows],
        group_names=text.group_names,
        labels=text.labels,
        report=text.report,
        heads=tuple(map(cut_heads, text.heads)),
        spelled=tuple(map(cut, text.spelled)),
        ngrams=text.ngrams,
    )


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
