"""What goes into an ONNX file: the name and the shape of each input, and how the words of texts become its numbers.

docs/tokens.md says the same to other programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.export.onnx_graph import Port
from heedful.export.onnx_wide import FEATURES
from heedful.runtime.encoder_states import EncoderStates
from heedful.runtime.kernels import Floats
from heedful.runtime.model_parts import NO_PARTS, ModelParts
from heedful.runtime.pair_features import OVERLAP as OVERLAPS
from heedful.runtime.pair_features import overlap
from heedful.runtime.program import SIDES
from heedful.runtime.sentence_features import MeanOfVectors, SentenceFeatures
from heedful.runtime.word_alignment import comparable, likeness
from heedful.text.vocabulary import Vocabulary
from heedful.text.wide_part import PhraseRule
from heedful.text.word_shapes import WordShapes

IDS, NGRAMS = "ids", "ngrams"
"""The words of a text as the network has them, and the n-grams of each."""
ROWS = "rows"
"""The words of a text as rows of the vectors of a package; -1 for a word without one."""
SENTENCE_IDS, SENTENCE_NGRAMS = "sentence_ids", "sentence_ngrams"
"""The words of a text as the sentence encoder has them."""
OVERLAP = "overlap"
"""What the words of two texts have in common, as float32."""
SPELLING, EQUAL = "spelling", 2.0
"""How alike the words of two texts are written, [B, P, Q] float32: 2 for words that are equal in lower case, for others
the runs of three characters in both over those in either; -1 at padding."""
ALIGNED, ALIGNED_NGRAMS = "aligned", "aligned_ngrams"
"""The words that are compared one by one, as the vectors have them: as rows, or as the sentence encoder's ids."""
NO_FEATURE = 2**31
"""Stands where a word has no feature at all, which else would be padding; no feature has this number."""
Ids = NDArray[np.int64]
Examples = Sequence[Sequence[Sequence[str]]]
"""For each example the words of each of its texts."""


def of_side(what: str, side: int, texts: int) -> str:
    """Return the name of an input of one text: "ids", of a pair "first_ids" and "second_ids"."""
    return what if texts == 1 else f"{SIDES[side]}_{what}"


class _Input(NamedTuple):
    """One input, and how examples become its numbers."""

    name: str
    port: Port
    made: Callable[[Examples], NDArray[np.generic]]


@dataclass(frozen=True)
class OnnxInputs:
    """The inputs of a file.

    Attributes:
        texts: of an example.
        vocabulary: of the network; None for a model of linear parts alone.
        parts: what is added to the network's logits.
    """

    texts: int
    vocabulary: Vocabulary | None
    parts: ModelParts = NO_PARTS

    @cached_property
    def vectors(self) -> MeanOfVectors | None:
        """The word vectors of a package that are read; None for none."""
        if self.parts.tagging is not None:
            return None if self.parts.tagging.vectors is None else self.parts.tagging.vectors.rows
        kinds = () if self.parts.sentence is None else self.parts.sentence.kinds
        found = (each for each in kinds if isinstance(each, MeanOfVectors) and each.rows.codes.any())
        return next(found, None)

    @cached_property
    def encoder(self) -> EncoderStates | None:
        """The sentence encoder that is read; None for none."""
        kinds = () if self.parts.sentence is None else self.parts.sentence.kinds
        return next((each for each in kinds if isinstance(each, EncoderStates)), None)

    def ports(self) -> dict[str, Port]:
        """Return the kind and the shape of each input by its name."""
        return {each.name: each.port for each in self._all()}

    def of(self, examples: Examples) -> dict[str, NDArray[np.generic]]:
        """Turn words into numbers.

        Args:
            examples: one or more.

        Returns:
            An array for each input.
        """
        return {each.name: each.made(examples) for each in self._all()}

    def _all(self) -> Iterator[_Input]:
        for side in range(self.texts):
            if self.vocabulary is not None:
                yield from self._of_words(self.vocabulary, side)
            if self.vectors is not None:
                yield self._of_rows(self.vectors, side)
            if self.encoder is not None:
                own = self.encoder.model
                yield from self._of_words(
                    own.reading.vocabulary, side, "sentence_", "S", own.settings.max_tokens
                )
        if self.parts.wide is not None:
            yield _of_phrases(self.parts.wide.rule)
        if self.parts.tagging is not None:
            yield _of_shapes(self.parts.tagging.shapes)
        if self.parts.sentence is not None and self.parts.sentence.features.pairing != "none":
            yield _Input(OVERLAP, Port("float", ("B", OVERLAPS)), _overlaps)
            yield _Input(SPELLING, Port("float", ("B", "P", "Q")), _spellings)
            for side in range(self.texts):
                yield from self._compared(self.parts.sentence.kinds[0], side)

    def _compared(self, kind: SentenceFeatures, side: int) -> Iterator[_Input]:
        """Yield the words of a text of a pair that are compared one by one."""

        def of(made: Callable[[Examples], NDArray[np.generic]]) -> Callable[[Examples], NDArray[np.generic]]:
            return lambda examples: made([[comparable(words) for words in each] for each in examples])

        inputs: list[_Input] = []
        if isinstance(kind, EncoderStates):
            inputs = list(self._of_words(kind.model.reading.vocabulary, side))
        elif kind is self.vectors:
            inputs = [self._of_rows(self.vectors, side)]
        for each, what in zip(inputs, (ALIGNED, ALIGNED_NGRAMS), strict=False):
            port = Port("int64", ("B", "PQ"[side], *each.port.shape[2:]))
            yield _Input(of_side(what, side, self.texts), port, of(each.made))

    def _free(self, what: str, side: int) -> str:
        """Return the name of a free size: "L", of a pair "L_first" and "L_second"."""
        return what if self.texts == 1 else f"{what}_{SIDES[side]}"

    def _of_words(
        self, vocabulary: Vocabulary, side: int, prefix: str = "", length: str = "L", most: int | None = None
    ) -> Iterator[_Input]:
        """Yield the ids of the first words of a text, and their n-grams where a vocabulary has them."""
        port = Port("int64", ("B", self._free(length, side)))

        def first(each: Sequence[Sequence[str]]) -> Sequence[str]:
            """Return the words that are read; the states of a sentence encoder have no n-grams of unknown words."""
            return vocabulary.without_ngrams(each[side][:most]) if prefix else each[side][:most]

        def ids(examples: Examples) -> Ids:
            return padded([vocabulary.ids(first(each)).tolist() for each in examples])

        def ngrams(examples: Examples) -> Ids:
            rows = vocabulary.rows_of_ngrams
            return padded_rows([[rows(word).tolist() for word in first(each)] for each in examples])

        yield _Input(of_side(prefix + IDS, side, self.texts), port, ids)
        if vocabulary.ngrams is not None:
            wider = Port("int64", (*port.shape, self._free("G", side)))
            yield _Input(of_side(prefix + NGRAMS, side, self.texts), wider, ngrams)

    def _of_rows(self, vectors: MeanOfVectors, side: int) -> _Input:
        def rows(examples: Examples) -> Ids:
            return padded([[vectors.row_of(word) for word in each[side]] for each in examples], -1)

        port = Port("int64", ("B", self._free("L", side)))
        return _Input(of_side(ROWS, side, self.texts), port, rows)


def _of_phrases(rule: PhraseRule) -> _Input:
    def features(examples: Examples) -> Ids:
        sides = [[rule.numbers(words, side) for side, words in enumerate(each)] for each in examples]
        return padded([np.unique(np.concatenate(each)).tolist() for each in sides], -1)

    return _Input(FEATURES, Port("int64", ("B", "F")), features)


def _of_shapes(rule: WordShapes) -> _Input:
    def features(examples: Examples) -> Ids:
        return padded_rows(
            [[own.tolist() or [NO_FEATURE] for own in rule.numbers(words)] for (words,) in examples]
        )

    return _Input(FEATURES, Port("int64", ("B", "L", "F")), features)


def _spellings(examples: Examples) -> Floats:
    compared = [[comparable(words) for words in each] for each in examples]
    sizes = (max([1, *(len(each[side]) for each in compared)]) for side in (0, 1))
    found = np.full((len(examples), *sizes), -1, np.float32)
    for table, (one, other) in zip(found, compared, strict=True):
        for i, j in np.ndindex(len(one), len(other)):
            same = one[i].lower() == other[j].lower()
            table[i, j] = EQUAL if same else likeness(one[i], other[j])
    return found


def _overlaps(examples: Examples) -> Floats:
    return np.array([overlap(*each) for each in examples], np.float32)


def padded(column: Sequence[Sequence[int]], padding: int = 0) -> Ids:
    """Return rows of numbers, filled up on the right to one length of 1 or more, [B, L]."""
    found = np.full((len(column), max([1, *map(len, column)])), padding, np.int64)
    for row, each in zip(found, column, strict=True):
        row[: len(each)] = each
    return found


def padded_rows(column: Sequence[Sequence[Sequence[int]]]) -> Ids:
    """Return for each text, for each word its numbers, [B, L, G]; -1 at padding."""
    longest, most = max([1, *map(len, column)]), max([1, *(len(rows) for text in column for rows in text)])
    found = np.full((len(column), longest, most), -1, np.int64)
    for own, text in zip(found, column, strict=True):
        for word, rows in zip(own, text, strict=False):
            word[: len(rows)] = rows
    return found
