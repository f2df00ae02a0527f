"""A translation with what each of its words looked at in the source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.attention_names import MapPlace
from heedful.data.examples import Corpus
from heedful.explain import Explanation, SentenceView
from heedful.explain.legends import caption
from heedful.structures import Batch
from heedful_lab.translation.bitext import source_batch
from heedful_lab.translation.subwords import BEGIN, END, Pieces

if TYPE_CHECKING:
    from heedful_lab.translation.translator import Translator

END_NAME = "[END]"
_NOTE = (
    "Rows are words of the translation, columns words of the source: where the decoder looked while it wrote the word. "
    "A row sums to 1. Averaged over heads and over the subwords of a written word, added up over those of a read one."
)
Array = NDArray[np.float64]


def explain_translation(translator: Translator, corpus: Corpus) -> Explanation:
    """Translate a text and show the decoder's attention on it, a picture for each layer.

    The network reads its own translation again, cut as the vocabulary cuts it.

    Args:
        translator: the model.
        corpus: one example.

    Returns:
        Two sides, the translation and the source, and the attention between their words.
    """
    answer = translator.answer(corpus)[0]
    text = corpus.examples[0].texts[0]
    source = translator.languages.source.encode([text])[0]
    target = translator.languages.target.encode([answer.text])[0]
    read = _first(source, translator.text.max_tokens)
    batch = Batch((source_batch([(*read.ids, END)]), source_batch([(BEGIN, *target.ids)])))
    with torch.inference_mode():
        output = translator.network(batch.to(translator.device), need_weights=True)
    written = _view("translation", answer.text, target)
    words = _view("source", text, read, end=True, truncated=len(source.ids) > len(read.ids))
    layers = _by_layer({place: each[0].double().cpu().numpy() for place, each in output.alignments.items()})
    alignments = {
        name: by_words(weights[: len(target.ids)], target.words, (*read.words, _count(read.words)))
        for name, weights in layers.items()
    }
    return Explanation(
        sides=(written, words),
        labels=(answer.text,),
        probabilities=(math.exp(answer.log_probability),),
        alignments=alignments,
        method=translator.model.encoder,
        notes={f"alignment {name}": _NOTE for name in alignments},
    )


def by_words(weights: Array, rows: Sequence[int], columns: Sequence[int]) -> Array:
    """Bring attention between subwords to words: the mean over a word's rows, the sum over a word's columns.

    Args:
        weights: [T, L], rows summing to 1.
        rows: number of the word that each row is a piece of, [T].
        columns: likewise for each column, [L].

    Returns:
        [words, words], rows summing to 1.
    """
    if not rows:
        return np.zeros((0, _count(columns)))
    of_rows = np.eye(_count(rows))[:, list(rows)]
    of_columns = np.eye(_count(columns))[list(columns)]
    found: Array = of_rows / of_rows.sum(axis=1, keepdims=True) @ weights @ of_columns
    return found


def _by_layer(maps: Mapping[MapPlace, Array]) -> dict[str, Array]:
    layers: dict[MapPlace, list[Array]] = {}
    for place, weights in maps.items():
        layers.setdefault(replace(place, head=None), []).append(weights)
    return {caption(place): np.mean(heads, axis=0) for place, heads in layers.items()}


def _view(
    name: str, text: str, pieces: Pieces, *, end: bool = False, truncated: bool = False
) -> SentenceView:
    spans: list[tuple[int, int]] = []
    for word in range(_count(pieces.words)):
        own = [span for span, number in zip(pieces.spans, pieces.words, strict=True) if number == word]
        spans.append((own[0][0], own[-1][1]))
    words = [text[start:stop] for start, stop in spans]
    if end:
        words, spans = [*words, END_NAME], [*spans, (len(text), len(text))]
    return SentenceView(name, text, tuple(words), tuple(spans), truncated=truncated)


def _first(pieces: Pieces, limit: int) -> Pieces:
    return Pieces(pieces.ids[:limit], pieces.spans[:limit], pieces.words[:limit])


def _count(words: Sequence[int]) -> int:
    return words[-1] + 1 if words else 0
