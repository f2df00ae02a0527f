"""Which words of texts are predicates: as a file, a caller or a person says, or as scores say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.encode import EncodedDataset
from heedful.data.examples import Example
from heedful.errors import UsageError

Predicates = Sequence[Sequence[int]]
"""For each text the places of its predicates, from 0."""


def predicates_of(examples: Sequence[Example]) -> Predicates | None:
    """Return the predicates that the examples of a file name.

    Args:
        examples: with frames as targets, or without targets.

    Returns:
        For each example the places of its predicates; None where one of them has no frames.
    """
    if any(not isinstance(example.target, tuple) for example in examples):
        return None
    return [
        [frame.predicate for frame in example.target] if isinstance(example.target, tuple) else []
        for example in examples
    ]


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
