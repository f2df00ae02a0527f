"""Which words of texts are predicates: as a file, a caller or a person says, or as scores say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.encode import EncodedDataset
from heedful.data.examples import Corpus, Example
from heedful.data.frame import Frame
from heedful.data.tokens import place as name_row
from heedful.errors import DataError, UsageError
from heedful.text.tokenize import tokenizer

Predicates = Sequence[Sequence[int]]
"""For each text the places of its predicates, from 0."""


def predicates_of(
    corpus: Corpus, lengths: NDArray[np.int64], truncated: NDArray[np.bool_], tokenizer_name: str
) -> Predicates | None:
    """Return the predicates that the examples of a file name, without those of which the word is cut off.

    Args:
        corpus: examples with frames as targets, or without targets.
        lengths: how many words of each text are read, [N].
        truncated: whether that is not all of them, [N] bool.
        tokenizer_name: of the model that reads them.

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
            _check_words(example, name_row(corpus.source, example.row or number), tokenizer_name)
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


def _check_words(example: Example, where: str, tokenizer_name: str) -> None:
    """Refuse words that are read as others than the file counts."""
    split = tokenizer(tokenizer_name).split_word
    for word in (example.words[0] if example.words else None) or ():
        parts = split(word)
        if len(parts) != 1:
            raise DataError(
                f"{where}: the model's tokenizer {tokenizer_name!r} reads {word!r} as {len(parts)} words, so that the "
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
