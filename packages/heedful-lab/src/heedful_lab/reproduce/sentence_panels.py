"""The panels of a figure of single sentences: numbers with their labels, read off what models recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from heedful.attention_names import MapPlace
from heedful.errors import UsageError, nearest
from heedful.explain.legends import caption
from heedful.structures import ContextStates, Maps, SideTrace
from heedful.tasks import Predictor
from heedful.tasks.sentences.network_records import trace_sentence
from heedful_lab.reproduce.picture import Picture, Sentence

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Panel:
    """One heat map.

    Attributes:
        sentence: name of the sentence; of features the word.
        title: what it shows.
        rows: label of each row.
        columns: label of each column; empty where columns are features.
        values: [rows, columns].
        opened: cells to outline, [rows, columns] bool; or None.
        even: whether the shade grows evenly with the value, and not with its square root as that of attention does.
    """

    sentence: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Array
    opened: NDArray[np.bool_] | None = None
    even: bool = False

    def as_record(self) -> dict[str, object]:
        """Return it as plain values for JSON."""
        opened = None if self.opened is None else self.opened.tolist()
        return {**vars(self), "values": self.values.tolist(), "opened": opened}


def read_panels(picture: Picture, predictors: Mapping[str, Predictor]) -> list[Panel]:
    """Let models read the sentences of a figure.

    Args:
        picture: the figure.
        predictors: its models by their names.

    Returns:
        The panels, sentence by sentence.

    Raises:
        UsageError: if a model does not record what the figure shows.
    """
    readings = {
        (sentence.name, model): trace_sentence(predictor, sentence.text)
        for sentence in picture.sentences
        for model, predictor in predictors.items()
    }
    if picture.kind == "features":
        return _features(picture, readings)
    return [panel for sentence in picture.sentences for panel in _of_sentence(picture, sentence, readings)]


Readings = Mapping[tuple[str, str], tuple[tuple[str, ...], SideTrace]]


def _of_sentence(picture: Picture, sentence: Sentence, readings: Readings) -> Iterable[Panel]:
    if picture.kind == "gates":
        yield _gates(picture, sentence, readings)
        return
    for model, name in picture.panels:
        words, trace = readings[sentence.name, model]
        if picture.kind == "scores":
            yield from _scores(model, sentence, words, trace.context)
        elif picture.kind == "masks":
            yield from _masks(model, sentence, words, trace.context)
        else:
            for place in _named(trace.context.maps, name, model, "attention map"):
                values = mean_of_features(trace.context.maps[place], 2)
                opened = _opened(place, trace.context, len(words))
                yield Panel(sentence.name, f"{model}, {caption(place)}", words, words, values, opened)


def _gates(picture: Picture, sentence: Sentence, readings: Readings) -> Panel:
    rows, values = [], []
    for model, name in picture.panels:
        words, trace = readings[sentence.name, model]
        for place in _named(trace.context.gates, name, model, "gate"):
            rows.append(f"{model}, {caption(place)}")
            values.append(mean_of_features(trace.context.gates[place], 1))
    return Panel(sentence.name, "fusion gate", tuple(rows), words, np.stack(values), even=True)


def _features(picture: Picture, readings: Readings) -> list[Panel]:
    """Draw the weights of a word, [features], in every sentence that has it, one below the other."""
    panels = []
    for word in dict.fromkeys(sentence.word for sentence in picture.sentences):
        for model in dict.fromkeys(model for model, _ in picture.panels):
            rows, values = [], []
            for sentence in (one for one in picture.sentences if one.word == word):
                words, trace = readings[sentence.name, model]
                if trace.pooled.weights is None:
                    raise UsageError(f"--model {model}: expected a model whose pooling weighs words")
                rows.append(sentence.text)
                values.append(trace.pooled.weights[0, words.index(word)].double().cpu().numpy())
            panels.append(Panel(word, f"{model}, source2token", tuple(rows), (), np.stack(values)))
    return panels


def _scores(
    model: str, sentence: Sentence, words: tuple[str, ...], context: ContextStates
) -> Iterable[Panel]:
    if context.factors is None:
        raise UsageError(f"--model {model}: expected an MTSA model, which has two scores")
    pairs, alone = context.factors.token2token, context.factors.source2token
    for place, score in pairs.items():
        title = f"token2token {caption(place)}"
        yield Panel(sentence.name, title, words, words, mean_of_features(score, 2))
    if alone:
        values = np.stack([mean_of_features(score, 1) for score in alone.values()], axis=1)
        yield Panel(sentence.name, "source2token", words, tuple(map(caption, alone)), values)


def _masks(model: str, sentence: Sentence, words: tuple[str, ...], context: ContextStates) -> Iterable[Panel]:
    """Draw the three steps of MDMAN's Figure 2: the first masks, what the policy chose, the last masks."""
    if context.policy is None:
        raise UsageError(f"--model {model}: expected a model with a mask selector, for example MDMAN")
    chosen = context.policy.chosen[0].cpu().numpy()
    places = np.arange(len(words))
    backward = places[None, :] > places[:, None]
    for title, mask in (
        ("first forward mask", backward.T),
        ("chosen by the policy" if chosen.any() else "chosen by the policy: none", chosen),
        ("final forward mask", backward.T | chosen),
        ("final backward mask", backward | chosen),
    ):
        yield Panel(sentence.name, title, words, words, mask.astype(float))


def _opened(place: MapPlace, context: ContextStates, length: int) -> NDArray[np.bool_] | None:
    """Return the pairs that a policy opened against the direction that a map is named after."""
    direction = place.rule
    if context.policy is None or direction not in ("forward", "backward"):
        return None
    places = np.arange(length)
    later = places[None, :] > places[:, None]
    against = later if direction == "forward" else later.T
    return context.policy.chosen[0].cpu().numpy() & against


def _named(found: Maps, name: str, model: str, what: str) -> list[MapPlace]:
    """Return the places that a figure names by their caption; "*" names all of them."""
    if name == "*" and found:
        return list(found)
    captions = {caption(place): place for place in found}
    if name not in captions:
        hint = nearest(name, list(captions)) if captions else "it has none"
        raise UsageError(f"--model {model}: expected a model with the {what} {name!r}: {hint}")
    return [captions[name]]


def mean_of_features(values: Tensor, axes: int) -> Array:
    """Return the one sentence of a batch, averaged over features if there is an axis of them.

    Args:
        values: [1, ...] with ``axes`` axes of words, and perhaps one of features.
        axes: 1 for a number a word, 2 for a number a pair.

    Returns:
        The numbers without batch and features.
    """
    array = values[0].double().cpu().numpy()
    return np.asarray(array.mean(axis=-1) if array.ndim > axes else array)
