"""Reads single features of the attention of one word off what a model recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import UsageError
from heedful.explain.legends import caption
from heedful.explain.word_features import FeatureMap, FeatureShares, WordFeatures, feature_map, feature_shares
from heedful.structures import SideTrace
from heedful.tasks.records import AnyAnswer
from heedful.tasks.sentences.explaining import trace_sentence

if TYPE_CHECKING:
    from heedful.tasks.sentences.sentence_model import SentenceModel


def read_features(
    predictor: SentenceModel[AnyAnswer], word: str, texts: Sequence[str], count: int = 8
) -> WordFeatures:
    """Read the weights of one word feature by feature, in every sentence that has it.

    Args:
        predictor: a model that reads each text alone.
        word: the word, as it is written or in another case.
        texts: sentences; those without the word are left out.
        count: how many features are kept of each attention: those that differ most from the mean over all features.

    Returns:
        The features.

    Raises:
        UsageError: if no sentence has the word, or the model has no weights feature by feature.
    """
    if count < 1:
        raise UsageError(f"count must be 1 or more; got {count}")
    read = [trace_sentence(predictor, text) for text in texts]
    found = [(words, trace, place) for words, trace in read if (place := _place(words, word)) is not None]
    if not found:
        named = " ".join(read[0][0]) if read else ""
        raise UsageError(f"no text has the word {word!r}; the first one is read as: {named:.300}")
    traces = [(trace, place, len(words)) for words, trace, place in found]
    maps, shares = _maps(traces, count), _shares(traces, count)
    if not maps and shares is None:
        raise UsageError(
            f"this model ({predictor.model.encoder}) has one weight for each pair of words and none for single "
            "features; train one with model.encoder=disan, mtsa or mdman"
        )
    return WordFeatures(
        found[0][0][found[0][2]],
        tuple(words for words, _, _ in found),
        tuple(place for _, _, place in found),
        maps,
        shares,
    )


_Read = Sequence[tuple[SideTrace, int, int]]
"""Of each sentence what was recorded, the place of the word, and the number of words."""


def _place(words: Sequence[str], word: str) -> int | None:
    """Return where a word is; a word that is written in just this way goes first."""
    for same in (word.__eq__, lambda each: each.casefold() == word.casefold()):
        for place, each in enumerate(words):
            if same(each):
                return place
    return None


def _maps(read: _Read, count: int) -> tuple[FeatureMap, ...]:
    first = read[0][0].context.maps
    return tuple(
        feature_map(
            caption(place),
            place.axis or "features",
            [_array(trace.context.maps[place][0, at, :length]) for trace, at, length in read],
            count,
        )
        for place, weights in first.items()
        if weights.ndim > 3
    )


def _shares(read: _Read, count: int) -> FeatureShares | None:
    weights = [trace.pooled.weights for trace, _, _ in read]
    rows = [
        _array(each[0, at])
        for each, (_, at, _) in zip(weights, read, strict=True)
        if each is not None and each.ndim > 2
    ]
    return feature_shares(rows, count) if rows else None


def _array(values: Tensor) -> NDArray[np.float64]:
    return values.double().cpu().numpy()
