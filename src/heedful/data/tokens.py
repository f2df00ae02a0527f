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

from heedful.data.examples import Example, Gold, Ragged, lengths_of
from heedful.errors import DataError
from heedful.text.dependency import UNKNOWN, cut_heads, mistake_in, padded_distances, split_heads
from heedful.text.tokenize import Tokenizer, tokenizer
from heedful.text.vocabulary import PieceVocabulary


class HeadColumn:
    """The heads of one column of texts while it grows; costs nothing while no text has any."""

    def __init__(self) -> None:
        self._given: list[tuple[int, Sequence[int]]] = []

    def __len__(self) -> int:
        return len(self._given)

    def append(self, heads: Sequence[int] | None, pieces: Sequence[int], row: int) -> str | None:
        """Take the heads of the next text.

        Args:
            heads: of each word as it was given, or of each piece that the tokenizer made of the words; None for none.
            pieces: number of pieces of each given word.
            row: place of the text in the column.

        Returns:
            What is wrong with them, or None.
        """
        if heads is None:
            return None
        total = sum(pieces)
        if len(heads) not in (len(pieces), total):
            words = f"{total} words" if total == len(pieces) else f"{len(pieces)} words ({total} pieces)"
            return f"heads must be as many as there are words; got {len(heads)} for {words}"
        if not all(isinstance(head, int) for head in heads):
            return f"heads must be whole numbers, 0 for a root; got {list(heads)!r:.80}"
        mistake = mistake_in(np.array(heads, np.int64), np.array([0, len(heads)]))
        if mistake is not None:
            return f"word {mistake[1] + 1}: {mistake[2]}"
        self._given.append((row, heads if len(heads) == total else split_heads(heads, pieces)))
        return None

    def ragged(self, offsets: NDArray[np.int64]) -> Ragged:
        """Return the column, -1 where no heads were given."""
        values = np.full(int(offsets[-1]), UNKNOWN, np.int32)
        for row, heads in self._given:
            values[offsets[row] : offsets[row + 1]] = heads
        return Ragged(values, offsets)


def cut(heads: Ragged, longest: int | NDArray[np.int64]) -> Ragged:
    """Return the heads of the first words of each text; see `heedful.text.dependency.cut_heads`.

    Returns the heads of the words that stay.
    """
    kept = heads.head(longest)
    values = kept.values.copy()
    for row in np.flatnonzero(heads.lengths() > longest):
        start, end = kept.offsets[row : row + 2]
        values[start:end] = cut_heads(heads[int(row)].tolist(), int(end - start))
    return Ragged(values, kept.offsets)


def padded_heads(heads: Ragged, rows: NDArray[np.int64], longest: int) -> NDArray[np.int64]:
    """Return the heads of chosen texts, [B, longest]: from 1, 0 for a root, -1 where unknown and at padding."""
    chosen = heads.take(rows)
    padded = np.full((len(rows), longest), UNKNOWN, np.int64)
    padded[np.arange(longest) < chosen.lengths()[:, None]] = chosen.values
    return padded


def distances(heads: Ragged, rows: NDArray[np.int64], longest: int) -> NDArray[np.int16]:
    """Return the tree distances of chosen texts, padded: [B, longest, longest], -1 where no path is known."""
    return padded_distances(padded_heads(heads, rows, longest), heads.take(rows).lengths())


def head_places(heads: Ragged, rows: NDArray[np.int64], longest: int) -> NDArray[np.int64]:
    """Return the place of each word's head in its text, from 0: [B, longest], -1 for a root and where it is unknown."""
    return np.maximum(padded_heads(heads, rows, longest) - 1, UNKNOWN)


@dataclass(frozen=True, eq=False)
class TokenizedCorpus:
    """Tokenized examples.

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
        weights: how much each example counts in training, [N] float32; None where all count alike.
        texts: the texts of each example as they were, where a model is to keep them; else None.
        cells: of each example the values of the columns beside the text, by name; empty where no example has any.
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
    weights: NDArray[np.float32] | None = None
    texts: tuple[tuple[str, ...], ...] | None = None
    cells: tuple[Mapping[str, object] | None, ...] = ()

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


def tokenize_corpus(
    examples: Iterable[Example],
    cutter: str | Tokenizer = "treebank",
    source: Path | None = None,
) -> TokenizedCorpus:
    """Cut every text into words.

    Args:
        examples: all with the same number of texts. An empty text is valid and has no words.
        cutter: a tokenizer, or a key of `TOKENIZERS`. Ready-made words of an example are used as they are, but for the
            second split of the tokenizers that have one, and normalized where it normalizes.
        source: the file they came from, for messages.

    Returns:
        The words, in the order of the examples. No examples give a corpus without sides.

    Raises:
        DataError: naming row and text: a text is None or no string, the number of texts differs, or heads are no tree
            of its words.
        UsageError: if there is no such tokenizer.
    """
    cutter = tokenizer(cutter) if isinstance(cutter, str) else cutter
    numberer = _Numberer(cutter)
    columns: list[_Column] | None = None
    targets: list[Gold] = []
    cells: list[Mapping[str, object] | None] = []
    rows, groups, weights = array("q"), array("i"), array("f")
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
        cells.append(example.cells)
        rows.append(row)
        weights.append(example.weight)
        groups.append(group_numbers.setdefault(example.group, len(group_numbers)))
    return TokenizedCorpus(
        words=numberer.words,
        sides=tuple(column.ragged() for column in columns or ()),
        targets=tuple(targets),
        rows=np.array(rows, np.int64),
        groups=np.array(groups, np.int32),
        group_names=tuple(group_numbers),
        tokenizer=cutter.name,
        source=source,
        heads=_all_heads(columns or ()),
        weights=None if all(weight == 1 for weight in weights) else np.array(weights, np.float32),
        cells=tuple(cells) if any(each is not None for each in cells) else (),
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
        for chunk in self._cutter.chunks(text):
            numbers = known.get(chunk)
            if numbers is None:
                numbers = known[chunk] = self._number(self._cutter.split(chunk))
            found += numbers
        return found

    def ready(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the numbers of the pieces of each word."""
        return [self._number(self._cutter.split_ready(word)) for word in words]

    def _number(self, words: tuple[str, ...]) -> tuple[int, ...]:
        numbers = self._numbers
        return tuple(numbers.setdefault(word, len(numbers)) for word in words)


@dataclass(frozen=True, eq=False)
class PieceTable:
    """The pieces of the distinct words of a corpus.

    Attributes:
        of_word: the ids of the pieces of each word, in its row.
        limit: most pieces of a text.
    """

    of_word: Ragged
    limit: int

    @classmethod
    def build(cls, words: Sequence[str], vocabulary: PieceVocabulary) -> PieceTable:
        """Cut every distinct word once."""
        cut = [vocabulary.pieces(word) for word in words]
        offsets = np.concatenate([[0], np.cumsum([len(pieces) for pieces in cut], dtype=np.int64)])
        values = np.fromiter((piece for pieces in cut for piece in pieces), np.int32, int(offsets[-1]))
        return cls(Ragged(values, offsets), vocabulary.rules.limit)

    def cut(self, side: Ragged) -> tuple[Ragged, Ragged]:
        """Cut texts into pieces.

        Returns the ids of each text's pieces and, in the same rows, the place of each piece's word in its text, from 0.
        """
        pieces = self.of_word.take(side.values.astype(np.int64))
        offsets = pieces.offsets[side.offsets]
        place_of_word = np.arange(len(side.values)) - np.repeat(side.offsets[:-1], side.lengths())
        places = np.repeat(place_of_word, pieces.lengths()).astype(np.int32)
        return Ragged(pieces.values, offsets), Ragged(places, offsets)

    def words_that_fit(self, side: Ragged) -> NDArray[np.int64]:
        """Return how many whole words of each text, from its beginning, the limit lets through, [N] int64."""
        ends = np.concatenate([[0], np.cumsum(self.of_word.lengths()[side.values])])
        # The first word that ends beyond the limit is the first that is cut off.
        allowed = ends[side.offsets[:-1]] + self.limit
        return np.searchsorted(ends, allowed, side="right") - 1 - side.offsets[:-1]


def words_of(places: Ragged) -> NDArray[np.int64]:
    """Return the number of words that the pieces of each text come from, [N] int64: every word has a piece."""
    filled = places.lengths() > 0
    count = np.zeros(len(places), np.int64)
    count[filled] = places.values[places.offsets[1:][filled] - 1] + 1
    return count


def between_pieces(
    between_words: NDArray[np.int16], places: NDArray[np.int64], valid: NDArray[np.bool_]
) -> NDArray[np.int16]:
    """Carry distances between words over to their pieces: two pieces are as far apart as their words.

    Args:
        between_words: [B, W, W]; -1 where there is no path.
        places: place of each piece's word, [B, L].
        valid: which pieces are there, [B, L].

    Returns:
        [B, L, L]; 0 between the pieces of one word that has a place in the tree, -1 at padding.
    """
    texts = np.arange(len(places))[:, None, None]
    steps = between_words[texts, places[:, :, None], places[:, None, :]]
    return np.where(valid[:, :, None] & valid[:, None, :], steps, np.int16(-1))
