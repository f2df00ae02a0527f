"""What a model of texts or pairs recorded while it read, feature by feature, and how a policy opened masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batching import collate
from heedful.data.examples import Example
from heedful.errors import UsageError, checked_whole
from heedful.explain.legends import caption
from heedful.explain.policy_steps import PolicySteps
from heedful.explain.word_features import FeatureMap, FeatureShares, WordFeatures, feature_map, feature_shares
from heedful.model.answers import AnyAnswer
from heedful.model.text_reading import listed
from heedful.structures import SideTrace

if TYPE_CHECKING:
    from heedful.tasks.sentences.sentence_model import SentenceModel


def trace_sentence(predictor: SentenceModel[AnyAnswer], text: str) -> tuple[tuple[str, ...], SideTrace]:
    """Return the words of a sentence and everything that a model recorded while it read it, feature by feature.

    Args:
        predictor: a model that reads each text alone; one of pairs reads the sentence as both of its sides.
        text: the sentence.

    Returns:
        The words, n of them, and the trace, with B = 1 and L = n.

    Raises:
        UsageError: if the model reads word pieces, or reads the sides of a pair together.
    """
    dataset, _ = predictor.encode_examples([Example((text,) * predictor.network.sides)])
    if dataset.places or predictor.network.prefix:
        raise UsageError(
            f"expected a model that reads the words of each sentence alone; this one is {predictor.model.encoder} "
            f"{'on word pieces' if dataset.places else 'for pairs read together'}"
        )
    with torch.inference_mode():
        output = predictor.network(collate(dataset, np.array([0]), predictor.device), need_weights=True)
    length = int(dataset.lengths()[0, 0])
    return tuple(predictor.text.cutter.words(text)[:length]), output.traces[0]


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
    count = checked_whole("count", count, 1)
    read = [trace_sentence(predictor, text) for text in listed(texts, "texts")]
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


def read_policy(predictor: SentenceModel[AnyAnswer], texts: Mapping[str, str]) -> tuple[PolicySteps, ...]:
    """Read how the policy of a model opened the masks of sentences.

    Args:
        predictor: an MDMAN model.
        texts: sentences by their names.

    Returns:
        The steps of each sentence.

    Raises:
        UsageError: if the model has no such policy, or the policy does not act yet.
    """
    found = []
    for name, text in texts.items():
        words, trace = trace_sentence(predictor, text)
        policy = trace.context.policy
        if predictor.model.encoder != "mdman" or policy is None:
            raise UsageError(
                f"expected a model with a policy that opens masks (model.encoder=mdman); this one is "
                f"{predictor.model.encoder}"
            )
        if policy.chances is None:
            raise UsageError(
                "the policy of this model does not act yet, so no pair was opened; train for more steps than "
                "encoder_steps of the encoder"
            )
        query, key = policy.chances[0, : len(words)].double().cpu().numpy().T
        opened = policy.chosen[0, : len(words), : len(words)].cpu().numpy()
        found.append(PolicySteps(name, words, query, key, opened))
    return tuple(found)
