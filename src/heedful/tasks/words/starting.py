"""A network that starts from another model (`model.start`): its encoder, its pooling and the vectors of its words."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from heedful.errors import UsageError
from heedful.tasks.prepared import StartsFrom
from heedful.tasks.saved_model import SavedModel
from heedful.text.vocabulary import Vocabulary

_ENCODER, _POOLING, _WORDS = (f"sentence_encoder.{part}." for part in ("encoder", "pooling", "embedding"))


def can_start(model: SavedModel[Any]) -> bool:
    """Return whether a model reads words and encodes a sentence, which is what another one can start from."""
    state = model.network.state_dict()
    return isinstance(getattr(model, "vocabulary", None), Vocabulary) and any(
        name.startswith(_ENCODER) for name in state
    )


def start_network(network: nn.Module, vocabulary: Vocabulary, start: StartsFrom) -> None:
    """Give a network that has just been made the encoder, the pooling and the word vectors of another model.

    A pooling with fewer hidden units than the new one takes its place among them: its units are the first ones, and the
    scores of the others begin at zero, so that both pool alike before training. What the other model lacks, such as the
    head, keeps its random weights, and a word that it does not know the vector that it would have without it.

    Args:
        network: is changed.
        vocabulary: the words of the network.
        start: the other model; its encoder has the settings of this one.

    Raises:
        UsageError: if the encoders differ.
    """
    own, given = network.state_dict(), start.model.network.state_dict()
    for name, values in own.items():
        if name.startswith(_ENCODER):
            _take(name, values, given.get(name), start.name)
        elif name.startswith(_POOLING) and name in given:
            _widen(name, values, given[name])
    _take_words(own, given, vocabulary, start.model.vocabulary)  # type: ignore[attr-defined]
    network.load_state_dict(own)


def _take(name: str, values: Tensor, given: Tensor | None, model: str) -> None:
    if given is None or given.shape != values.shape:
        has = "none" if given is None else f"the shape {list(given.shape)}"
        raise UsageError(
            f"model.start: {model} has {has} where the network has {name} of the shape {list(values.shape)}; leave "
            "model.encoder and its options as they are, or set model.start=''"
        )
    values.copy_(given)


def _widen(name: str, values: Tensor, given: Tensor) -> None:
    """Write a weight of a pooling into the first hidden units of a wider one; another pooling stays as it is."""
    if values.ndim != given.ndim or any(n > m for n, m in zip(given.shape, values.shape, strict=True)):
        return
    if values.ndim == 2 and given.shape[1] < values.shape[1]:
        values[:, given.shape[1] :] = 0.0
    values[tuple(slice(size) for size in given.shape)] = given


def _take_words(own: dict[str, Tensor], given: dict[str, Tensor], now: Vocabulary, then: Vocabulary) -> None:
    """Write the vectors of the words that both know."""
    table = _table(given, then)
    rows = {word: place for place, word in enumerate((*then.trainable, *then.extra))}
    for name, words, first in (("weight", now.trainable, 2), ("frozen", now.extra, 0)):
        pairs = [
            (place, row)
            for place, word in enumerate(words, first)
            if (row := rows.get(word, rows.get(word.lower()))) is not None
        ]
        if pairs:
            places, there = torch.tensor(pairs).unbind(1)
            values = own[f"{_WORDS}{name}"]
            values[places] = table[there].to(values.dtype)


def _table(given: dict[str, Tensor], words: Vocabulary) -> Tensor:
    """Return a row for each word of a model, those that it was trained with first."""
    trained = given[f"{_WORDS}weight"][2 : 2 + len(words.trainable)]
    frozen = given[f"{_WORDS}frozen"][: len(words.extra)]
    return torch.cat([trained.float(), frozen.float()])
