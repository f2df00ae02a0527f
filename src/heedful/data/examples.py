"""One example: plain text plus gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError

WEIGHTS = (1e-30, 1e30)
"""Least and greatest weight of an example that counts: what single precision holds, summed over many examples."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One predicate of a sentence with its arguments.

    Attributes:
        predicate: place of the predicate's word, from 0.
        tags: one a word of the sentence, as in `heedful.text.bio`; the predicate itself is V, what continues an
            argument X is C-X, what refers to it R-X. Empty where they are not
            known.
        sense: its roleset, such as "come.03", or its lemma; empty where that is not known.
    """

    predicate: int
    tags: tuple[str, ...]
    sense: str = ""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels of an example that may have several, or none.

    Attributes:
        names: the labels, each once.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordTags:
    """One tag a word: parts of speech, or spans in BIO or BIOES (see `heedful.text.bio`).

    Attributes:
        tags: one a ready-made word of the example.
    """

    tags: tuple[str, ...]


Gold = str | float | LabelSet | WordTags | tuple[Frame, ...] | None
"""What is known of an example: its class, its score, its labels, its words' tags, or the frames of its predicates."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text or a pair of texts, with its gold label or score if there is one.

    Attributes:
        texts: one string for a text, two for a pair (premise, hypothesis).
        target: class name (str), score (float), the frames of all predicates, or None where there is no gold.
        words: for each text its ready-made tokens where the file has them (binary parse, tree), else None; an empty
            tuple means that no text has them.
        row: 1-based row (line) in the file it came from, header included; 0 where there is no file.
        group: what a breakdown of results goes by (genre, phenomenon); empty where there is none.
        heads: for each text the dependency head of each of its words (ready-made ones, or those the tokenizer makes):
            the head's place from 1, 0 for a root, -1 where unknown; None where a text has no parse. An empty tuple
            means that no text has one.
        fields: every field of its row by name, where the reader was asked to keep them; else None.
        weight: how much it counts in training, beside the others; 0, or a number within `WEIGHTS`.
        cells: values of the columns beside the text, by name; None where none are read.
    """

    texts: tuple[str, ...]
    target: Gold = None
    words: tuple[tuple[str, ...] | None, ...] = ()
    row: int = 0
    group: str = ""
    heads: tuple[tuple[int, ...] | None, ...] = ()
    fields: Mapping[str, object] | None = field(default=None, compare=False)
    weight: float = 1.0
    cells: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Corpus:
    """What a reader returns.

    Attributes:
        examples: the examples, in file order.
        skipped: how many rows were left out, by reason in plain words; never silent.
        source: the file they came from, None for generated data.
        notes: what a reader found that may not be what its writer meant, one sentence each.
    """

    examples: list[Example]
    skipped: Counter[str] = field(default_factory=Counter)
    source: Path | None = None
    notes: tuple[str, ...] = ()


def one_example(corpus: Corpus) -> Example:
    """Return the only example of a corpus.

    Args:
        corpus: what is to be explained.

    Returns:
        The example.

    Raises:
        UsageError: if there is another number of them.
    """
    if len(corpus.examples) != 1:
        raise UsageError(f"explain takes one input at a time; got {len(corpus.examples)}. Pass one of them")
    return corpus.examples[0]


@dataclass(frozen=True, eq=False)
class Ragged:
    """Integers in rows of different lengths: row i is ``values[offsets[i]:offsets[i + 1]]``.

    Attributes:
        values: all rows end to end, [T] int32.
        offsets: where each row starts, and the end of the last, [N + 1] int64.
    """

    values: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return map(self.__getitem__, range(len(self)))

    def lengths(self) -> NDArray[np.int64]:
        """Return the length of each row, [N] int64."""
        return np.diff(self.offsets)

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the values of chosen rows stand in `values`, row after row."""
        lengths = self.lengths()[rows]
        ends = np.cumsum(lengths)
        places: NDArray[np.int64] = np.arange(lengths.sum()) + np.repeat(
            self.offsets[rows] - ends + lengths, lengths
        )
        return places

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """Return chosen rows in the order asked for."""
        return self._pieces(self.offsets[rows], self.lengths()[rows])

    def head(self, longest: int | NDArray[np.int64]) -> Ragged:
        """Return the first `longest` values of each row; one number for all rows, or one a row."""
        return self._pieces(self.offsets[:-1], np.minimum(self.lengths(), longest))

    def _pieces(self, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Ragged:
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        index = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Ragged(self.values[index], offsets)


def ragged_of(rows: Sequence[NDArray[np.int32]]) -> Ragged:
    """Return rows as one record."""
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(row) for row in rows], dtype=np.int64)])
    return Ragged(np.concatenate([np.zeros(0, np.int32), *rows]), offsets)


def joined(parts: tuple[Ragged, ...]) -> Ragged:
    """Return the rows of several records one after another, those of the first in front; at least one record."""
    starts = np.cumsum([0, *(len(part.values) for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
    return Ragged(
        np.concatenate([part.values for part in parts]), np.concatenate([np.zeros(1, np.int64), *offsets])
    )


def lengths_of(sides: tuple[Ragged, ...], count: int) -> NDArray[np.int64]:
    """Return the row lengths of several columns of `count` rows each, [N, sides] int64."""
    lengths = [side.lengths() for side in sides]
    return np.stack(lengths, axis=1) if lengths else np.zeros((count, 0), np.int64)
