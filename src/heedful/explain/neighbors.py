"""The training examples that a text resembles: which a model keeps, and which words make them alike. Imports no torch.

What counts for the answer counts for the likeness: each feature that a linear part reads counts as much as its weights,
and the vector of the network beside them as much as its logits do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError, checked_whole
from heedful.model.model import Model
from heedful.model.training_examples import KeptExamples, projected, unit
from heedful.runtime.runtime_reading import each_request, texts_of
from heedful.text.wide_part import ascending

SHOWN = 3
"""Examples that an explanation shows where no other number is asked for."""
MOST = 100
"""Examples that may be asked for."""
_WORDS = 3
_LEAST = 0.01
_OF_WIDE, _OF_NETWORK = 1 << 40, 1 << 41
AnyModel = Model[Any, Any]
Words = tuple[tuple[str, ...], ...]
"""The words of each text of an example."""


@dataclass(frozen=True)
class Neighbor:
    """A training example that a text resembles.

    Attributes:
        similarity: cosine of the vectors of both, 1 for the same words.
        row: of the example in its file, or its place in the list that it came from, from 1.
        label: its gold: the class, the labels, or the number.
        texts: its texts; none where the model keeps only the row.
        shared: words that both have, and how much less alike both are without the word, the heaviest first.
    """

    similarity: float
    row: int
    label: str | float | tuple[str, ...]
    texts: tuple[str, ...] = ()
    shared: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        shared = tuple((str(word), float(weight)) for word, weight in self.shared)
        label = tuple(map(str, self.label)) if isinstance(self.label, list | tuple) else self.label
        for name, value in (("shared", shared), ("label", label), ("texts", tuple(map(str, self.texts)))):
            object.__setattr__(self, name, value)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        label = list(self.label) if isinstance(self.label, tuple) else self.label
        return {
            "similarity": round(self.similarity, 4),
            "row": self.row,
            "label": label,
            "texts": list(self.texts),
            "shared": [list(each) for each in self.shared],
        }

    @property
    def gold_text(self) -> str:
        """The gold as a text."""
        if isinstance(self.label, tuple):
            return ", ".join(self.label)
        return self.label if isinstance(self.label, str) else f"{self.label:g}"


def kept_of(model: AnyModel) -> KeptExamples:
    """Return the training examples that a model keeps.

    Raises UsageError if it keeps none.
    """
    if model.examples is None:
        raise UsageError(
            "this model keeps no training examples; train it with --keep-examples (in Python: keep_examples='texts')"
        )
    return model.examples


def check_count(count: int) -> None:
    """Refuse a number of neighbors that is none.

    Raises UsageError if it is not from 1 to 100.
    """
    checked_whole("neighbors", count, 1, MOST)


def neighbors(
    model: AnyModel, requests: Any, count: int = SHOWN, *, words: bool = True
) -> list[tuple[Neighbor, ...]]:
    """Find the training examples that requests resemble most.

    Args:
        model: a model that keeps its training examples.
        requests: what the model takes, or the examples that a reader made of a file.
        count: how many examples for each, 1 to 100.
        words: whether to look for the shared words that weigh most, which takes a vector for each of them.

    Returns:
        For each request its neighbors, the most alike first; fewer where there are fewer that are alike at all.

    Raises:
        UsageError: if the model keeps no examples, or the number is out of range.
        DataError: naming the request, if it is not what the model takes, or too long.
    """
    check_count(count)
    kept, sides = kept_of(model), 2 if model.is_pair else 1
    texts = [
        texts_of(request, number, sides) for number, request in enumerate(each_request(requests), start=1)
    ]
    vectors = example_vectors(model, texts, kept.network)
    places, cosines = kept.nearest(vectors, count)
    found = []
    for own, near, alike in zip(texts, places.tolist(), cosines.tolist(), strict=True):
        pairs = [(place, cosine) for place, cosine in zip(near, alike, strict=True) if cosine > 0]
        heavy = _shared(model, kept, own, pairs) if words and kept.texts is not None else [()] * len(pairs)
        found.append(
            tuple(_neighbor(model, kept, *pair, shared) for pair, shared in zip(pairs, heavy, strict=True))
        )
    return found


def example_vectors(model: AnyModel, texts: Sequence[tuple[str, ...]], network: float) -> NDArray[np.float32]:
    """Return the vectors by which examples are alike.

    Args:
        model: the model.
        texts: of each example.
        network: how much the vector of the network counts; 0 for not at all.

    Returns:
        [N, 256] float32 of length 1, or zeros where there is nothing to read.
    """
    words = [_words(model, own) for own in texts]
    return _vectors(model, words, texts, network)


def _words(model: AnyModel, texts: tuple[str, ...]) -> Words:
    reading = model.reading
    return tuple(tuple(reading.cutter.words(text)[: reading.max_tokens]) for text in texts)


def _vectors(
    model: AnyModel, words: Sequence[Words], texts: Sequence[tuple[str, ...]], network: float
) -> NDArray[np.float32]:
    parts = model.engine.parts
    nothing = np.zeros(0, np.int64), np.zeros(0, np.float32)
    found: list[list[tuple[NDArray[np.int64], NDArray[np.floating]]]] = [[nothing] for _ in words]
    dense: NDArray[np.floating] | None = None
    if parts.wide is not None:
        for own, example in zip(found, words, strict=True):
            numbers = ascending([parts.wide.rule.numbers(side, k) for k, side in enumerate(example)])
            rows, values = parts.wide.values(numbers)
            own.append(
                (parts.wide.numbers[rows].astype(np.int64) + _OF_WIDE, values * parts.wide.sizes[rows])
            )
    if parts.sentence is not None and len(words):
        has_words = np.array([any(example) for example in words])
        dense = parts.sentence.features.of(words) * parts.sentence.sizes * has_words[:, None]
    if network and len(words):
        sides = [model.encode(list(side)) for side in zip(*texts, strict=True)]
        joined = unit(np.concatenate(sides, axis=1)) * network
        places = np.arange(joined.shape[1]) + _OF_NETWORK
        for own, row in zip(found, joined, strict=True):
            own.append((places, row))
    whole = [tuple(np.concatenate(column) for column in zip(*own, strict=True)) for own in found]
    return unit(projected(whole, dense))  # type: ignore[arg-type]


def _shared(
    model: AnyModel, kept: KeptExamples, texts: tuple[str, ...], pairs: Sequence[tuple[int, float]]
) -> list[tuple[tuple[str, float], ...]]:
    """Return for each neighbor the words that both have, by how much less alike both are without the word."""
    assert kept.texts is not None  # the caller looked
    own = _words(model, texts)
    others = [
        {word.lower() for side in _words(model, kept.texts[place]) for word in side} for place, _ in pairs
    ]
    said = dict.fromkeys(word.lower() for side in own for word in side)
    asked = [word for word in said if any(word in other for other in others)]
    without = [tuple(tuple(each for each in side if each.lower() != word) for side in own) for word in asked]
    as_texts = [tuple(" ".join(side) for side in each) for each in without]
    lacking = _vectors(model, without, as_texts, kept.network)
    found = []
    for (place, cosine), other in zip(pairs, others, strict=True):
        costs = cosine - lacking @ kept.vectors[place]
        heavy = [
            (word, round(float(cost), 4)) for word, cost in zip(asked, costs, strict=True) if word in other
        ]
        heavy.sort(key=lambda each: -each[1])
        found.append(tuple(each for each in heavy if each[1] >= _LEAST)[:_WORDS])
    return found


def _neighbor(
    model: AnyModel, kept: KeptExamples, place: int, cosine: float, shared: tuple[tuple[str, float], ...]
) -> Neighbor:
    gold = kept.gold[place]
    label: str | float | tuple[str, ...]
    if gold.ndim:
        label = tuple(model.labels[number] for number in np.flatnonzero(gold))
    else:
        label = model.labels[int(gold)] if kept.gold.dtype.kind == "i" else float(gold)
    return Neighbor(
        cosine, int(kept.rows[place]), label, () if kept.texts is None else kept.texts[place], shared
    )
