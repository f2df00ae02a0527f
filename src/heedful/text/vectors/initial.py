"""What every reader of word vectors returns, and the first values of the embedding tables.

The first values are pretrained vectors where there are any, and random ones elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.text.normalization import normalize
from heedful.text.vocabulary import Vocabulary

Matrix = NDArray[np.float32]


class Speller(ABC):
    """Makes the vector of a word from parts of its spelling, for words that a file does not list."""

    @abstractmethod
    def spell(self, words: Sequence[str]) -> tuple[Matrix, NDArray[np.bool_]]:
        """Return the vectors of words.

        Args:
            words: any strings.

        Returns:
            The vectors, [n, D]; and which words have one, [n]: the vector of any other word is zero.
        """


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors.

    Attributes:
        words: each once, in file order.
        matrix: [n, D] float32, a row a word.
        speller: gives vectors to words that are not listed; None where the file has nothing to make them from.
    """

    words: tuple[str, ...]
    matrix: Matrix
    speller: Speller | None = None

    @property
    def width(self) -> int:
        """Features D of a vector."""
        return int(self.matrix.shape[1])


def chosen_rows(
    names: Sequence[str], wanted: Collection[str] | None, *, lowercase: bool
) -> Mapping[str, int]:
    """Choose the rows of a binary file that are kept.

    Args:
        names: the word of each row.
        wanted: keep only these words; None keeps all.
        lowercase: lower-case the words. Where several fall together, the one that the file writes in lower case wins,
            else the first.

    Returns:
        Word to row, in the order of the rows. Of a word that is there twice, the first row is kept.
    """
    rows: dict[str, int] = {}
    for row, name in enumerate(names):
        word = name.lower() if lowercase else name
        if (wanted is None or word in wanted) and (
            word not in rows or (name == word and names[rows[word]] != word)
        ):
            rows[word] = row
    return rows


def normalized_vectors(vectors: WordVectors, *, lowercase: bool) -> WordVectors:
    """Return vectors whose words are spelled as normalized text spells them; see `heedful.text.normalization`.

    Args:
        vectors: as a file has them.
        lowercase: whether words are lower-cased.

    Returns:
        The vectors. Where several words fall together, the one that the file spells so wins, else the first.
    """
    rows: dict[str, int] = {}
    for row, name in enumerate(vectors.words):
        word = name if name.isascii() else normalize(name)
        word = word.lower() if lowercase else word
        if word and (word not in rows or (name == word and vectors.words[rows[word]] != word)):
            rows[word] = row
    if tuple(rows) == vectors.words:
        return vectors
    chosen = list(rows.values())
    matrix = vectors.matrix if chosen == list(range(len(vectors.words))) else vectors.matrix[chosen]
    return WordVectors(tuple(rows), matrix, vectors.speller)


class InitialTables(NamedTuple):
    """First values of the two embedding tables.

    Attributes:
        trainable: [V_t, D] float32; rows 0 (padding) and 1 (unknown) are zero.
        frozen: [V_f, D] float16.
        coverage: how many words of the training data found a vector `direct`, through their base form (`baseform`),
            through the parts of their spelling (`spelled`), or got a `random` one; and the `frozen` rows from the file
            and the shared `buckets`.
    """

    trainable: NDArray[np.float32]
    frozen: NDArray[np.float16]
    coverage: dict[str, int]


def initial_table(
    vocabulary: Vocabulary,
    vectors: WordVectors | None,
    *,
    baseforms: Mapping[str, str] | None = None,
    seed: int = 0,
    random: Literal["uniform", "normal"] = "uniform",
    scale: float = 0.05,
    width: int = 300,
    vector_norm: float = 0.0,
    unit_norm: bool = False,
) -> InitialTables:
    """Fill the embedding tables of a vocabulary.

    A trained word gets its pretrained vector, else that of its base form, else the one that the vectors' speller makes
    of its spelling, else a random one.

    Args:
        vocabulary: whose rows to fill.
        vectors: pretrained vectors; None makes every row random.
        baseforms: inflected form to base form; None for no such look-up.
        seed: of the random rows.
        random: `uniform` in [-scale, scale] (the papers), or `normal` N(0, 1) (what the published SST code does).
        scale: half width of the uniform distribution.
        width: features D where there are no vectors.
        vector_norm: scale every pretrained vector to this length; 0 leaves them as they are. The papers' settings were
            found with GloVe, whose vectors are about 5 long; unit vectors such as Numberbatch's train much slower.
        unit_norm: scale every row but 0 and 1 to length 1 (decomposable attention).

    Returns:
        Both tables and the counts of where their rows came from. Shared rows of the `hash` policy are N(0, 1) scaled
        to length 1.

    Raises:
        UsageError: if a word of the frozen table has no vector, or `random` is unknown.
    """
    if random not in ("uniform", "normal"):
        raise UsageError(f"random: expected 'uniform' or 'normal', got {random!r}")
    generator = np.random.default_rng(seed)
    if vectors is None:
        vectors = WordVectors((), np.zeros((0, width), np.float32))
    rows = {word: row for row, word in enumerate(vectors.words)}
    shape = (vocabulary.trainable_rows, vectors.width)
    draw = (
        generator.uniform(-scale, scale, shape) if random == "uniform" else generator.standard_normal(shape)
    )
    trainable = draw.astype(np.float32)
    direct = _row_of(vocabulary.trainable, rows)
    source = np.where(
        direct >= 0, direct, _row_of([(baseforms or {}).get(w, "") for w in vocabulary.trainable], rows)
    )
    pretrained = vectors.matrix if vector_norm == 0 else vector_norm * _unit(vectors.matrix)
    trainable[2:][source >= 0] = pretrained[source[source >= 0]]
    spelled = _spell(vocabulary, vectors, source, trainable, vector_norm)
    frozen = pretrained[_checked(_row_of(vocabulary.extra, rows), vocabulary)]
    if unit_norm:
        trainable, frozen = _unit(trainable), _unit(frozen)
    trainable[:2] = 0
    buckets = _unit(generator.standard_normal((vocabulary.buckets, vectors.width)).astype(np.float32))
    coverage = {
        "direct": int((direct >= 0).sum()),
        "baseform": int(((direct < 0) & (source >= 0)).sum()),
        "spelled": spelled,
        "random": int((source < 0).sum()) - spelled,
        "frozen": len(frozen),
        "buckets": len(buckets),
    }
    return InitialTables(trainable, np.concatenate([frozen, buckets]).astype(np.float16), coverage)


def initial_ngrams(rows: int, width: int, seed: int) -> NDArray[np.float32] | None:
    """Return the first values of a table of n-grams.

    Args:
        rows: of the table.
        width: features D.
        seed: of the values, which are uniform in [-0.1, 0.1]: the mean of a word's dozen n-grams is then about as long
            as its own row.

    Returns:
        [rows, D]; None for no rows.
    """
    if not rows:
        return None
    generator = np.random.default_rng([seed, rows])
    return generator.uniform(-0.1, 0.1, (rows, width)).astype(np.float32)


def _spell(
    vocabulary: Vocabulary,
    vectors: WordVectors,
    source: NDArray[np.int64],
    trainable: NDArray[np.float32],
    vector_norm: float,
) -> int:
    """Fill the rows of words without a vector from their spelling, in place; return how many."""
    missing = np.flatnonzero(source < 0)
    if vectors.speller is None or not len(missing):
        return 0
    rows, found = vectors.speller.spell([vocabulary.trainable[row] for row in missing])
    if vector_norm:
        rows = vector_norm * _unit(rows)
    trainable[2 + missing[found]] = rows[found]
    return int(found.sum())


def _row_of(words: Sequence[str], rows: Mapping[str, int]) -> NDArray[np.int64]:
    return np.array([rows.get(word, -1) for word in words], dtype=np.int64)


def _checked(rows: NDArray[np.int64], vocabulary: Vocabulary) -> NDArray[np.int64]:
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        raise UsageError(
            f"vectors: no vector for {vocabulary.extra[missing[0]]!r}, a word of the frozen table; give the vectors "
            "that the vocabulary was built with, lower-cased if it is"
        )
    return rows


def _unit(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    return matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
