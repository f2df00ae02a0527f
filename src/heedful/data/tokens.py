"""The words of a whole corpus as numbers, before there is a vocabulary.

Counting words for a vocabulary and encoding with it need the same words; this record holds them once, as numbers into
the list of distinct words, so that 12 million tokens take 48 MB and encoding is one look-up per distinct word.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Example, Gold
from heedful.data.heads import HeadColumn
from heedful.data.ragged import Ragged, lengths_of
from heedful.errors import DataError
from heedful.text.tokenize import Tokenizer, tokenizer


@dataclass(frozen=True, eq=False)
class TokenisedCorpus:
    """Tokenised examples.

    Attributes:
        words: the distinct surface forms, in order of appearance.
        sides: for each column of texts the numbers of its words in `words`.
        targets: gold of each example, as the reader gave it.
        rows: row of each example in its file, its place in the list where it came from none, [N] int64, from 1.
        groups: number of each example's group in `group_names`, [N] int32.
        group_names: the distinct groups.
        tokenizer: name of the tokenizer.
        source: the file, for messages.
        heads: for each column the dependency head of each word (see `heedful.text.dependency`), in the rows of
            `sides`; empty where no text has a parse.
    """

    words: tuple[str, ...]
    sides: tuple[Ragged, ...]
    targets: tuple[Gold, ...]
    rows: NDArray[np.int64]
    groups: NDArray[np.int32]
    group_names: tuple[str, ...]
    tokenizer: str
    source: Path | None = None
    heads: tuple[Ragged, ...] = ()

    def __len__(self) -> int:
        return len(self.targets)

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of words of each text, [N, sides] int64."""
        return lengths_of(self.sides, len(self))

    def counts(self) -> Mapping[str, int]:
        """Return how often each surface form occurs, in order of appearance."""
        total = np.zeros(len(self.words), np.int64)
        for side in self.sides:
            total += np.bincount(side.values, minlength=len(self.words))
        return dict(zip(self.words, total.tolist(), strict=True))

    def length_quantile(self, share: float) -> int:
        """Return the smallest length that at least this share of all texts, columns pooled, does not exceed."""
        lengths = np.sort(self.lengths(), axis=None)
        return int(lengths[max(0, math.ceil(share * len(lengths)) - 1)])


def tokenise_corpus(
    examples: Iterable[Example], tokenizer_name: str = "treebank", source: Path | None = None
) -> TokenisedCorpus:
    """Cut every text into words.

    Args:
        examples: all with the same number of texts. An empty text is valid and has no words.
        tokenizer_name: a key of `TOKENIZERS`. Ready-made words of an example are used as they are, but for the second
            split of the tokenizers that have one.
        source: the file they came from, for messages.

    Returns:
        The words, in the order of the examples. No examples give a corpus without sides.

    Raises:
        DataError: naming row and text: a text is None or no string, the number of texts differs, or heads are no tree
            of its words.
        UsageError: if there is no such tokenizer.
    """
    numberer = _Numberer(tokenizer(tokenizer_name))
    columns: list[_Column] | None = None
    targets: list[Gold] = []
    rows, groups = array("q"), array("i")
    group_numbers: dict[str, int] = {}
    for position, example in enumerate(examples, start=1):
        row = example.row or position
        if columns is None:
            columns = [_Column() for _ in example.texts]
        if len(example.texts) != len(columns):
            raise DataError(f"{place(source, row)}: expected {len(columns)} texts, got {len(example.texts)}")
        for number, column in enumerate(columns):
            ready = example.words[number] if example.words else None
            text = example.texts[number]
            given = (text,) if ready is None else ready
            if not all(isinstance(string, str) for string in given):
                raise _no_string(given, f"{place(source, row)}, {field_name(number, len(columns))}")
            pieces = None if ready is None else numberer.ready(ready)
            column.append(numberer.cut(text) if pieces is None else [n for word in pieces for n in word])
            if number < len(example.heads):
                problem = column.take_heads(example.heads[number], pieces)
                if problem:
                    raise DataError(f"{place(source, row)}, {field_name(number, len(columns))}: {problem}")
        targets.append(example.target)
        rows.append(row)
        groups.append(group_numbers.setdefault(example.group, len(group_numbers)))
    return TokenisedCorpus(
        words=numberer.words,
        sides=tuple(column.ragged() for column in columns or ()),
        targets=tuple(targets),
        rows=np.array(rows, np.int64),
        groups=np.array(groups, np.int32),
        group_names=tuple(group_numbers),
        tokenizer=tokenizer_name,
        source=source,
        heads=_all_heads(columns or ()),
    )


def place(source: Path | None, row: int) -> str:
    """Name a row in a message."""
    return f"row {row}" if source is None else f"{source}: row {row}"


def field_name(number: int, sides: int) -> str:
    """Name a text of an example in a message."""
    return "text" if sides == 1 else f"text {number + 1}"


def _all_heads(columns: Sequence[_Column]) -> tuple[Ragged, ...]:
    if not any(len(column.heads) for column in columns):
        return ()
    return tuple(column.heads.ragged(column.ragged().offsets) for column in columns)


def _no_string(given: Sequence[object], where: str) -> DataError:
    wrong = next(string for string in given if not isinstance(string, str))
    return DataError(
        f"{where}: expected a string, got {wrong!r}. Write an empty string where there is no text."
    )


class _Column:
    """One column of texts while it grows."""

    def __init__(self) -> None:
        self._values = array("i")
        self._offsets = array("q", [0])
        self.heads = HeadColumn()

    def append(self, numbers: Iterable[int]) -> None:
        self._values.extend(numbers)
        self._offsets.append(len(self._values))

    def take_heads(self, heads: Sequence[int] | None, pieces: Sequence[Sequence[int]] | None) -> str | None:
        """Take the heads of the last text, whose given words became these pieces; return what is wrong."""
        row = len(self._offsets) - 2
        sizes = [1] * (self._offsets[-1] - self._offsets[-2]) if pieces is None else [*map(len, pieces)]
        return self.heads.append(heads, sizes, row)

    def ragged(self) -> Ragged:
        return Ragged(np.array(self._values, np.int32), np.array(self._offsets, np.int64))


class _Numberer:
    """Gives each distinct word a number, and remembers the numbers of each piece between white space."""

    def __init__(self, cutter: Tokenizer) -> None:
        self._cutter = cutter
        self._numbers: dict[str, int] = {}
        self._of_chunk: dict[str, tuple[int, ...]] = {}

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def cut(self, text: str) -> list[int]:
        known = self._of_chunk
        found: list[int] = []
        for chunk in text.split():
            numbers = known.get(chunk)
            if numbers is None:
                numbers = known[chunk] = self._number(self._cutter.split_chunk(chunk))
            found += numbers
        return found

    def ready(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the numbers of the pieces of each word."""
        return [self._number(self._cutter.split_word(word)) for word in words]

    def _number(self, words: tuple[str, ...]) -> tuple[int, ...]:
        numbers = self._numbers
        return tuple(numbers.setdefault(word, len(numbers)) for word in words)
