"""A wide part beside the network of a classifier: how it joins a trained model, and what it says of an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from heedful.data.encoding import EncodedDataset
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.sentences.sentence_task import gold_of
from heedful.text.phrases import PhraseRule
from heedful.wide.fitting import fit_weight, fit_wide


def fit_beside(
    model: SentenceModel[Any], dev: EncodedDataset, training: EncodedDataset, class_weights: Tensor | None
) -> None:
    """Give a trained model a wide part, with the weight that dev decides on; none where dev does not agree.

    Args:
        model: the model, changed in place.
        dev: examples with gold that it was not trained on.
        training: those that it was trained on.
        class_weights: how much the examples of each class count, [Y]; None where all count alike.
    """
    assert training.phrases is not None  # the model's own settings encoded both
    assert dev.phrases is not None
    gold, seen = (gold_of(part).astype(np.int64) for part in (dev, training))
    own = [training.phrases[row] for row in range(len(training))]
    held = [dev.phrases[row] for row in range(len(dev))]
    weight, wide = 0.0, None
    if len(np.unique(seen)) > 1:
        counts = None if class_weights is None else class_weights.numpy().astype(np.float64)
        wide = fit_wide(model.text.phrases, own, seen, model.model.outputs, held, gold, counts)
        weight = fit_weight(model.run(dev)[0], wide.logits(held), gold)
    if wide is None or not weight:
        model.text = replace(model.text, phrases=PhraseRule())
        return
    model.about = replace(model.about, wide=wide.weighing(weight))
