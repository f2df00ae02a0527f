"""Keeping training examples in a model, so that it can show which of them a text resembles."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.explain.neighbors import example_vectors
from heedful.model.training_examples import MOST_KEPT, KeptExamples, coded
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.training.stages import stage

_log = logging.getLogger(__name__)
_BLOCK = 256
_LOOKED_AT = 2_000
_KINDS = {"i": np.int32, "f": np.float32}


@dataclass(frozen=True)
class StoredExamples:
    """What is kept of training examples.

    Attributes:
        how: whether their texts are kept, or their rows alone.
        share: of them that is kept.
        seed: of the draw.
        replayed: how many of the last ones an earlier model kept, all of which stay.
        each: for how many examples each of these stood in training.
    """

    how: Literal["texts", "rows"]
    share: float = 1.0
    seed: int = 0
    replayed: int = 0
    each: float = 1.0

    def places(self, count: int) -> NDArray[np.int64]:
        """Return which of so many examples are kept, ascending: at least one, at most `MOST_KEPT`."""
        generator, new = np.random.default_rng(self.seed), count - self.replayed
        drawn = generator.permutation(new)[: max(round(self.share * new), 1)]
        found = np.concatenate([drawn, np.arange(new, count)])
        if len(found) > MOST_KEPT:
            found = generator.permutation(found)[:MOST_KEPT]
        return np.sort(found)


def kept_examples(
    model: SentenceModel[Any], dataset: EncodedDataset, keeping: StoredExamples
) -> KeptExamples | None:
    """Return training examples with their vectors, as a trained model sees them.

    Args:
        model: the model, trained.
        dataset: the training examples, with gold and with their texts.
        keeping: which of them, and what of them.

    Returns:
        The examples; None, with a warning, where the model has no vector of an example: it reads both texts of a pair
        together, and has no part beside that.
    """
    assert dataset.texts is not None  # the settings of a run that keeps examples keep the texts
    assert dataset.targets is not None  # training examples have gold
    chosen = keeping.places(len(dataset))
    parts, network = model.engine.parts, _of_network(model, dataset)
    if not network and parts.wide is None and parts.sentence is None:
        _log.warning("data.keep_examples: this model has no vector of an example, so it keeps none.")
        return None
    texts, codes = [dataset.texts[place] for place in chosen], []
    with stage("keeping training examples", len(texts)) as read:
        for start in range(0, len(texts), _BLOCK):
            codes.append(coded(example_vectors(model, texts[start : start + _BLOCK], network)))
            read.step(_BLOCK)
    gold = dataset.targets[chosen]
    return KeptExamples(
        np.concatenate(codes),
        gold.astype(np.uint8 if gold.ndim == 2 else _KINDS[gold.dtype.kind]),
        dataset.rows[chosen],
        tuple(texts) if keeping.how == "texts" else None,
        network,
        _own_weights(dataset, keeping, chosen),
    )


def _own_weights(
    dataset: EncodedDataset, keeping: StoredExamples, chosen: NDArray[np.int64]
) -> NDArray[np.float32] | None:
    """Return the weights of examples as they were given; None where all count alike."""
    if dataset.weights is None:
        return None
    weights = dataset.weights.astype(np.float64) * dataset.mean_weight
    weights[len(weights) - keeping.replayed :] /= keeping.each
    found = weights[chosen].astype(np.float32)
    return None if np.allclose(found, 1, rtol=1e-5, atol=0) else found


def _of_network(model: SentenceModel[Any], dataset: EncodedDataset) -> float:
    """Return how much the vector of the network counts: the size of its logits; 0 where it has no vector."""
    if "vectors" not in model.engine.can or not len(dataset):
        return 0.0
    logits = model.run_network(dataset.select(np.arange(min(len(dataset), _LOOKED_AT))))[0].astype(np.float64)
    if logits.shape[1] > 1:
        logits -= logits.mean(axis=1, keepdims=True)
    return float(np.sqrt((logits**2).mean())) or 1.0
