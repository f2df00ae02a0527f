"""Which words of texts are predicates: as a file, a caller or a person says, or as scores say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.data.examples import Corpus, Example, Frame
from heedful.data.readers.role_columns import NONE, brackets
from heedful.data.tokens import place as name_row
from heedful.errors import DataError, UsageError
from heedful.model.answers import WordsRead, remarks_on
from heedful.model.role_spans import RoleSpan, bracketed
from heedful.tables import aligned_table
from heedful.text.bio import spans_of
from heedful.text.tokenize import Tokenizer

Predicates = Sequence[Sequence[int]]
"""For each text the places of its predicates, from 0."""


def predicates_of(
    corpus: Corpus, lengths: NDArray[np.int64], truncated: NDArray[np.bool_], cutter: Tokenizer
) -> Predicates | None:
    """Return the predicates that the examples of a file name, without those of which the word is cut off.

    Args:
        corpus: examples with frames as targets, or without targets.
        lengths: how many words of each text are read, [N].
        truncated: whether that is not all of them, [N] bool.
        cutter: of the model that reads them.

    Returns:
        For each example the places of its predicates; None where one of them has no frames.

    Raises:
        DataError: naming the row, if the tokenizer splits words by whose number a predicate is named.
    """
    if any(not isinstance(example.target, tuple) for example in corpus.examples):
        return None
    found = []
    for number, (example, length, is_cut) in enumerate(
        zip(corpus.examples, lengths.tolist(), truncated.tolist(), strict=True), start=1
    ):
        named = [frame.predicate for frame in frames_of(example)]
        if named:
            _check_words(example, name_row(corpus.source, example.row or number), cutter)
        found.append([place for place in named if place < length] if is_cut else named)
    return found


def frames_of(example: Example) -> tuple[Frame, ...]:
    """Return the frames of an example; none where it has another target."""
    return example.target if isinstance(example.target, tuple) else ()


def senses_of(example: Example, words: Sequence[str]) -> dict[int, str]:
    """Return what a file calls its predicates.

    Args:
        example: with frames as its target, or without.
        words: that were read of it.

    Returns:
        Place to roleset or lemma; empty where the file has none, or where its words were read as others.
    """
    ready = (example.words[0] if example.words else None) or ()
    if tuple(words) != ready[: len(words)]:
        return {}
    return {frame.predicate: frame.sense for frame in frames_of(example)}


def _check_words(example: Example, where: str, cutter: Tokenizer) -> None:
    """Refuse words that are read as others than the file counts."""
    for word in (example.words[0] if example.words else None) or ():
        parts = cutter.split_ready(word)
        if len(parts) != 1:
            raise DataError(
                f"{where}: the model's tokenizer {cutter.name!r} reads {word!r} as {len(parts)} words, so that the "
                "predicates are not where the file says; name them with --predicates, or split the words of the file"
            )


def checked(predicates: Predicates, lengths: NDArray[np.int64]) -> list[list[int]]:
    """Sort the places that a caller gave, each once.

    Args:
        predicates: for each text places from 0.
        lengths: how many words of each text are read, [N].

    Returns:
        For each text its places, rising.

    Raises:
        UsageError: if texts and entries differ in number, or a place lies outside its text.
    """
    if len(predicates) != len(lengths):
        raise UsageError(
            f"predicates must have one entry a text; got {len(predicates)} for {len(lengths)} texts"
        )
    for number, (places, length) in enumerate(zip(predicates, lengths.tolist(), strict=True), start=1):
        for place in places:
            if not 0 <= place < length:
                raise UsageError(
                    f"text {number}: there is no word {place + 1} to be a predicate; {length} words of it are read"
                )
    return [sorted(set(places)) for places in predicates]


def above(scores: NDArray[np.float32], dataset: EncodedDataset, threshold: float) -> list[list[int]]:
    """Return the words whose score reaches a threshold.

    Args:
        scores: of the words of all texts, end to end, [T].
        dataset: the texts.
        threshold: the least score.

    Returns:
        For each text the places of its predicates, from 0.
    """
    offsets = dataset.sides[0].offsets[1:-1]
    return [np.flatnonzero(part >= threshold).tolist() for part in np.split(scores, offsets)]


def places_of(name: str, words: Sequence[str]) -> list[int]:
    """Find a predicate that a person named.

    Args:
        name: a word of the text, of which every occurrence is taken, or the number of a word from 1.
        words: of the text, as many as are read.

    Returns:
        Its places, from 0.

    Raises:
        UsageError: if the text has no such word.
    """
    found = [place for place, word in enumerate(words) if word == name]
    if not found and name.isdecimal() and 1 <= int(name) <= len(words):
        found = [int(name) - 1]
    if not found:
        shown = " ".join(f"{number}:{word}" for number, word in enumerate(words, start=1))
        raise UsageError(f"there is no word {name!r} to be a predicate; the words are {shown or 'none'}")
    return found


@dataclass(frozen=True)
class PredicateAnswer:
    """One predicate and its arguments.

    Attributes:
        place: of its word, from 0.
        word: the word.
        probability: that it is a predicate; 1 where it was given.
        tags: BIO, one a word of the text.
        spans: what the tags say, in order.
        sense: its roleset or lemma where a file names it; the model finds none.
    """

    place: int
    word: str
    probability: float
    tags: tuple[str, ...]
    spans: tuple[RoleSpan, ...]
    sense: str = ""


@dataclass(frozen=True)
class RoleAnswer(WordsRead):
    """What a model of semantic roles says about one text.

    Attributes:
        predicates: the predicates in order.
        unknown: how many words the model does not know.
        truncated: whether the text was cut (only when that was asked for).
    """

    predicates: tuple[PredicateAnswer, ...]
    unknown: int
    truncated: bool

    @property
    def remarks(self) -> str:
        """What a reader of the answer should know; empty where there is nothing."""
        notes = remarks_on(self.words, self.unknown, truncated=self.truncated)
        if self.words and not self.predicates:
            notes.insert(0, "no predicate found")
        return ", ".join(notes)

    def bracketed(self, predicate: PredicateAnswer) -> str:
        """Write a frame in a line, ``[ARG0 The cat] [V sat] [ARGM-LOC on the mat]``, words set apart by spaces."""
        return bracketed(self.words, predicate.spans)

    def columns(self) -> str:
        """Write the frames in the columns of CoNLL-2005: the word, the predicate or "-", brackets a predicate.

        A predicate is its sense, else its word. White space in a word becomes "_", and so does a predicate "-": either
        would be read as something else.
        """
        places = {each.place: _predicate_cell(each.sense or each.word) for each in self.predicates}
        cells = [
            [_cell(word) for word in self.words],
            [places.get(place, NONE) for place in range(len(self.words))],
            *(brackets(spans_of(predicate.tags), len(self.words)) for predicate in self.predicates),
        ]
        return "\n".join(aligned_table(zip(*cells, strict=True), gap=" ")) + "\n"

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return asdict(self)


def _cell(text: str) -> str:
    return re.sub(
        r"\s+", "_", text, flags=re.ASCII
    )  # the readers take any other space for a part of the word


def _predicate_cell(text: str) -> str:
    return "_" if text == NONE else _cell(text)
