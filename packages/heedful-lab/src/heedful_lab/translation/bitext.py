"""Parallel text as numbers: subwords of both sides, and batches for a network that translates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodeReport
from heedful.data.examples import Corpus, Ragged
from heedful.data.tokens import place
from heedful.errors import DataError
from heedful.structures import Batch, Sentences
from heedful_lab.translation.subwords import BEGIN, END, PADDING, Subwords

NOT_COUNTED = -1
"""The target of a place that the loss leaves out."""


@dataclass(frozen=True, eq=False)
class ParallelDataset:
    """Sentences and their translations as numbers.

    Attributes:
        source: subwords of each sentence and the end.
        target: begin, subwords and end of each translation.
        references: the translations as they stand in the file, to be compared with.
        rows: row of each example in its file, [N] int64, from 1.
        report: what was left out and cut.
    """

    source: Ragged
    target: Ragged
    references: tuple[str, ...]
    rows: NDArray[np.int64]
    report: EncodeReport

    def __len__(self) -> int:
        return len(self.rows)

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of subwords of both sides, [N, 2] int64, as a batch pads them."""
        return np.stack([self.source.lengths(), self.target.lengths() - 1], axis=1)

    def select(self, indices: NDArray[np.int64]) -> ParallelDataset:
        """Return the examples at these positions, in this order."""
        return replace(
            self,
            source=self.source.take(indices),
            target=self.target.take(indices),
            references=tuple(self.references[i] for i in indices),
            rows=self.rows[indices],
        )


def encode_parallel(
    corpus: Corpus,
    source: Subwords,
    target: Subwords,
    *,
    max_tokens: int,
    truncate: str = "error",
    training: bool = False,
) -> ParallelDataset:
    """Turn sentences and their translations into numbers.

    Args:
        corpus: the sentences with their translations as gold.
        source: subwords of the sentences.
        target: subwords of the translations.
        max_tokens: most subwords of a text, begin and end aside.
        truncate: what happens to a longer source: "error", or "head" to read its beginning. A pair that trains and of
            which either side is longer is then left out, because the halves of a pair do not fit each other.
        training: whether the examples are trained on.

    Returns:
        The examples, and counts of what was left out and cut.

    Raises:
        DataError: naming the row, if a translation is missing or a text too long.
    """
    for example in corpus.examples:
        if not isinstance(example.target, str):
            raise DataError(f"{place(corpus.source, example.row)}: a translation is missing")
    references = [str(example.target) for example in corpus.examples]
    sources = [pieces.ids for pieces in source.encode([example.texts[0] for example in corpus.examples])]
    targets = [pieces.ids for pieces in target.encode(references)]
    kept, cut, lost = [], 0, 0
    for i, (example, ids, translation) in enumerate(zip(corpus.examples, sources, targets, strict=True)):
        longest = max(len(ids), len(translation)) if training else len(ids)
        if longest <= max_tokens:
            kept.append(i)
        elif truncate == "error":
            raise DataError(
                f"{place(corpus.source, example.row)}: {longest} subwords, at most max_tokens = {max_tokens} allowed. "
                "Raise it with --max-tokens, or truncate such texts with --truncate head."
            )
        elif not training:
            kept.append(i)
            cut, lost = cut + 1, lost + len(ids) - max_tokens
    return ParallelDataset(
        _ragged([(*sources[i][:max_tokens], END) for i in kept]),
        _ragged([(BEGIN, *targets[i], END) for i in kept]),
        tuple(references[i] for i in kept),
        np.array([corpus.examples[i].row or i + 1 for i in kept], np.int64),
        EncodeReport(
            examples=len(kept),
            dropped_long=len(sources) - len(kept),
            truncated=cut,
            tokens_cut=lost,
            empty=sum(not sources[i] for i in kept),
            tokens=sum(len(sources[i]) + len(targets[i]) for i in kept),
        ),
    )


def collate_parallel(dataset: ParallelDataset, indices: NDArray[np.int64]) -> Batch:
    """Pad chosen examples to a batch for teacher forcing.

    Args:
        dataset: the examples.
        indices: positions in the data set, [B].

    Returns:
        Two sides, the source and the translation moved right by one; the targets, [B, T] int64, are what stands after
        each place, -1 where nothing does.
    """
    source = source_batch([dataset.source[i] for i in indices])
    ids, valid = _padded([dataset.target[i] for i in indices])
    following = valid[:, 1:]
    before = Sentences(ids[:, :-1].masked_fill(~following, PADDING), following)
    targets = ids[:, 1:].masked_fill(~following, NOT_COUNTED)
    return Batch((source, before), targets, tuple(dataset.rows[indices].tolist()))


def source_batch(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> Sentences:
    """Pad the subwords of sentences, ends included, to one column."""
    return Sentences(*_padded(rows))


def _padded(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> tuple[Tensor, Tensor]:
    lengths = np.array([len(row) for row in rows], np.int64)
    valid = np.arange(max(1, lengths.max(initial=0))) < lengths[:, None]
    ids = np.full(valid.shape, PADDING, np.int64)
    ids[valid] = np.concatenate([np.asarray(row, np.int64) for row in rows])
    return torch.from_numpy(ids), torch.from_numpy(valid)


def _ragged(rows: Sequence[Sequence[int]]) -> Ragged:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
    values = np.fromiter((token for row in rows for token in row), np.int32)
    return Ragged(values, offsets.astype(np.int64))
