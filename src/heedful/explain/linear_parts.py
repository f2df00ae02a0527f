"""What each word adds to the logits in the parts of a model that are linear in the words: exact, without a sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heedful.features.feature_columns import Row
from heedful.runtime.column_part import ColumnPart
from heedful.runtime.model_parts import ModelParts
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.runtime.sentence_part import SentencePart
from heedful.runtime.tag_part import TagPart
from heedful.text.wide_part import Phrase, WidePart

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointLogits:
    """What words that stand together add only together.

    Attributes:
        side: 0 for a text or the first of a pair, 1 for the second.
        start: the first word, from 0.
        end: the word after the last.
        values: what they add to each logit, [Y].
    """

    side: int
    start: int
    end: int
    values: Values


@dataclass(frozen=True, eq=False)
class AcrossLogits:
    """What a word of each text of a pair add only together.

    Attributes:
        first: the word of the first text, from 0.
        second: the word of the second text.
        values: what they add to each logit, [Y].
    """

    first: int
    second: int
    values: Values


@dataclass(frozen=True, eq=False)
class ColumnLogits:
    """What a column beside the text adds, whatever the words.

    Attributes:
        name: of the column.
        shown: its value, as a picture writes it.
        values: how much it changes each logit beside an average row, [Y].
    """

    name: str
    shown: str
    values: Values


@dataclass(frozen=True, eq=False)
class SharedLogits:
    """Logits shared among the words of an example: everything adds up to them.

    Attributes:
        start: what is there without words, and with average columns, [Y].
        words: for each side what each word adds, [n, Y]; what a phrase adds is shared evenly among its words.
        joint: what phrases add beyond their words; it is in `words` already.
        across: of pairs likewise, words of both texts.
        columns: what the columns beside the text add.
    """

    start: Values
    words: tuple[Values, ...]
    joint: tuple[JointLogits, ...] = ()
    across: tuple[AcrossLogits, ...] = ()
    columns: tuple[ColumnLogits, ...] = ()

    @property
    def total(self) -> Values:
        """The sum of everything, [Y]."""
        words = np.sum([side.sum(axis=0) for side in self.words], axis=0)
        return self.start + words + sum(column.values for column in self.columns)

    def plus(self, other: SharedLogits) -> SharedLogits:
        """Return the sum of both, for the same words."""
        words = tuple(own + more for own, more in zip(self.words, other.words, strict=True))
        joint, columns = (*self.joint, *other.joint), (*self.columns, *other.columns)
        return SharedLogits(self.start + other.start, words, joint, columns=columns)


def nothing(sides: Sequence[Sequence[str]], outputs: int) -> SharedLogits:
    """Return shares of logits that are zero."""
    return SharedLogits(np.zeros(outputs), tuple(np.zeros((len(words), outputs)) for words in sides))


def linear_shares(
    parts: ModelParts, sides: Sequence[Sequence[str]], outputs: int
) -> tuple[SharedLogits, ModelParts]:
    """Share the logits of the linear parts of a model.

    A part is linear in the words of one text for the Euclidean norms that this text has: TF-IDF of phrases, and the
    mean of word vectors. Of a text without words what remains is the bias, which is the start.

    Args:
        parts: of the model.
        sides: the words of a text, or of both texts of a pair.
        outputs: of the model.

    Returns:
        The shares of the linear parts, and the parts that are not linear.
    """
    found, sentence = nothing(sides, outputs), parts.sentence
    if parts.wide is not None:
        found = found.plus(of_wide(parts.wide, sides))
    if parts.columns is not None:
        start, columns = of_columns(parts.columns, parts.row)
        found = replace(found, start=found.start + start, columns=columns)
    if sentence is None or sentence.features.pairing != "none":
        return found, ModelParts(sentence=sentence)
    rest: SentencePart | None = None
    for part in sentence.apart():
        texts = part.features.texts
        if isinstance(texts, MeanOfVectors):
            found = found.plus(_of_mean(part, texts, sides[0]))
        else:
            rest = part if rest is None else rest.beside(part)
    return found, ModelParts(sentence=rest)


def of_wide(part: WidePart, sides: Sequence[Sequence[str]]) -> SharedLogits:
    """Share what a wide part adds to the logits of an example.

    What occurs several times is shared evenly among its occurrences.

    Args:
        part: the wide part.
        sides: the words of a text, or of both texts of a pair.

    Returns:
        The shares.
    """
    places: defaultdict[int, list[tuple[int, Phrase]]] = defaultdict(list)
    for side, words in enumerate(sides):
        for phrase in part.rule.phrases(words, side):
            places[phrase.number].append((side, phrase))
    rows, values = part.values(np.array(sorted(places), np.int32))
    own = [np.zeros((len(words), part.outputs)) for words in sides]
    joint = []
    for row, value in zip(rows.tolist(), values.tolist(), strict=True):
        said = places[int(part.numbers[row])]
        each = part.weight * value * part.weights[row].astype(np.float64) / len(said)
        for side, phrase in said:
            own[side][phrase.start : phrase.end] += each / (phrase.end - phrase.start)
            if phrase.end - phrase.start > 1:
                joint.append(JointLogits(side, phrase.start, phrase.end, each))
    return SharedLogits(part.weight * part.bias.astype(np.float64), tuple(own), tuple(joint))


def of_columns(part: ColumnPart, row: Row) -> tuple[Values, tuple[ColumnLogits, ...]]:
    """Share what the columns beside a text add to its logits.

    Args:
        part: the column part.
        row: what the columns say.

    Returns:
        What a row of average columns has, [Y], and what each column changes.
    """
    start, each = part.shares(row)
    named = zip(part.columns.columns, row, each, strict=True)
    return start, tuple(ColumnLogits(column.name, column.shown(cell), own) for column, cell, own in named)


def of_tagging(part: TagPart, words: Sequence[str], place: int) -> SharedLogits:
    """Share what the linear part of a model of tags adds to the logits of one word.

    A feature of several words is shared evenly among those that are in the text; what reads only the edges of the text
    is in the start, with the bias.

    Args:
        part: the linear part.
        words: of the text.
        place: of the word, from 0.

    Returns:
        The shares.
    """
    start, own = part.bias.astype(np.float64), np.zeros((len(words), part.outputs))
    joint = []
    for feature in part.shapes.features(words, place):
        rows = part.rows(np.array([feature.number], np.int32))
        if not len(rows):
            continue
        weights = part.weights[rows[0]].astype(np.float64)
        first, end = max(feature.start, 0), min(feature.end, len(words))
        if end <= first:
            start += weights
            continue
        own[first:end] += weights / (end - first)
        if end - first > 1:
            joint.append(JointLogits(0, first, end, weights))
    if part.vectors is not None:
        reach, each = part.vectors.reach, part.vectors.each(words)
        tables = part.exact_vector_weights.reshape(2 * reach + 1, -1, part.outputs)
        for offset, table in enumerate(tables, start=-reach):
            if 0 <= place + offset < len(words):
                own[place + offset] += each[place + offset] @ table
    return SharedLogits(start, (own,), tuple(joint))


def _of_mean(part: SentencePart, texts: MeanOfVectors, words: Sequence[str]) -> SharedLogits:
    vectors, (weights, bias) = texts.vectors(words), part.exact
    norm = float(np.linalg.norm(vectors.sum(axis=0))) or 1.0
    return SharedLogits(part.weight * bias, (part.weight * (vectors @ weights) / norm,))
