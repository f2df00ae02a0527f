"""A predictor's answer to one request, with what led to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.collate import collate
from heedful.data.examples import Example
from heedful.explain import Explanation, SentenceView, deletion_score, explanation_from
from heedful.text.tokenize import tokenize

if TYPE_CHECKING:
    from heedful.predictor.predictor import Predictor

SIDE_NAMES = {1: ("text",), 2: ("premise", "hypothesis")}

PAPER_NAMES = {
    "bi-blosan": "Bi-BloSAN",
    "bi-gru": "Bi-GRU",
    "bi-lstm": "Bi-LSTM",
    "cnn": "CNN",
    "decomposable": "Decomposable attention",
    "deep-att": "Multi-head attention (DeepAtt)",
    "disan": "DiSAN",
    "hierarchical-cnn": "Hierarchical CNN",
    "mdman": "MDMAN",
    "mssan": "MS-SAN",
    "mtsa": "MTSA",
    "mtsa-deep-att": "MTSA",
    "mtsa-paper": "MTSA",
    "mtsa-stacked": "MTSA",
    "multi-head": "Multi-head attention",
    "resan": "ReSAN",
}
"""Encoder to the name its paper gives it; an encoder that is not here goes by its own."""

_NOTES = {
    "mdman": {
        "chosen": "Outlined: pairs of words that the mask selector opened to every map, also against its direction."
    },
    "resan": {
        "chosen": "Outlined: pairs of words whose row was selected to look and whose column was selected to be seen; "
        "a word whose row is empty takes the mean of all others."
    },
}
"""Encoder to notes that say more than the usual ones."""


def explain(predictor: Predictor, example: Example, *, faithfulness: bool) -> Explanation:
    """Show what a model looked at.

    Args:
        predictor: the model.
        example: one text or one pair.
        faithfulness: also delete the heaviest words of a classified example and see what happens.

    Returns:
        The record that the pictures are drawn from.
    """
    dataset, _ = predictor.encode_examples([example])
    with torch.inference_mode():
        batch = collate(dataset, np.array([0]), predictor.device)
        output = predictor.network(batch, need_weights=True)
    logits = output.logits.float().cpu().numpy()
    related = predictor.model.task == "relatedness"
    explanation = explanation_from(
        output,
        0,
        _views(predictor, example, dataset.lengths()[0].tolist()),
        labels=predictor.answer_names,
        probabilities=predictor.probabilities(logits)[0].tolist(),
        score=float(predictor.scores(logits)[0]) if related else None,
        score_range=(1.0, float(predictor.model.outputs)) if related else None,
        # A token that the network puts in front has no place in a tree.
        tree_distances=None if predictor.network.prefix else [side.tree_distance for side in batch.sides],
        chosen=[policy.chosen for policy in output.policies] or None,
        notes=_NOTES.get(predictor.model.encoder),
        alignments=output.alignments,
        method=PAPER_NAMES.get(predictor.model.encoder, predictor.model.encoder),
    )
    return explanation if related or not faithfulness else _with_faithfulness(explanation, predictor)


def _views(predictor: Predictor, example: Example, lengths: Sequence[int]) -> list[SentenceView]:
    views = []
    for name, text, length in zip(SIDE_NAMES[len(example.texts)], example.texts, lengths, strict=True):
        tokens = tokenize(text, predictor.text.tokenizer)
        words, spans = tokens.words[:length], tokens.spans[:length]
        unknown = tuple(not predictor.vocabulary.knows(word) for word in words)
        added = predictor.network.prefix
        words, unknown = (*added, *words), (*(False for _ in added), *unknown)
        spans = (*((0, 0) for _ in added), *spans)
        views.append(SentenceView(name, text, words, spans, unknown, length < len(tokens.words)))
    return views


def _with_faithfulness(explanation: Explanation, predictor: Predictor) -> Explanation:
    weights = [side.weights for side in explanation.sides if side.weights is not None]
    if len(weights) < len(explanation.sides):
        return explanation
    words = [side.words for side in explanation.sides]
    return replace(explanation, faithfulness=deletion_score(_classifier_of_words(predictor), words, weights))


def _classifier_of_words(predictor: Predictor) -> Callable[[Sequence[Any]], NDArray[np.float64]]:
    """Return a function from examples, given as words of each side, to probabilities [N, Y]."""
    as_words = replace(predictor.text, tokenizer="whitespace", truncate="head")
    reader = predictor.reading(as_words)

    def probabilities(examples: Sequence[Any]) -> NDArray[np.float64]:
        texts = [Example(tuple(" ".join(words) for words in example)) for example in examples]
        dataset, _ = reader.encode_examples(texts)
        return predictor.probabilities(predictor.run(dataset)[0])

    return probabilities
