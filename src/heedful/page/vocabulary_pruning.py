"""A sentence encoder and word vectors for fewer words: those of the training texts, and the commonest others.

A word that is not among the 8,000 that are kept is rare. It is read as the
common word whose vector is nearest to its own, as an inflected form is read as its base form, so that it stays known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.runtime.encoder_states import KEPT, EncoderStates
from heedful.runtime.sentence_features import JoinedFeatures, MeanOfVectors, SentenceFeatures
from heedful.runtime.sentence_part import SentencePart
from heedful.storage.manifest import SCALE
from heedful.storage.shared_rows import SharedRows

MOST_WORDS = 8_000
"""Words that keep a row of their own."""
MOST_NEAR = 6_000
"""The commonest of them, of which one stands for a word without a row."""
MOST_READ = 30_000
"""The commonest words of all, which are read as another one where they have no row; rarer ones are unknown then."""
_AXES = 100
_AT_ONCE = 4_000
_SPECIAL_ROWS = 2
"""Padding and the unknown word, which come before the words."""


@dataclass(frozen=True)
class Fewer:
    """Which words keep a row.

    Attributes:
        kept: the words, most common first.
        instead: for other words the kept word that is read in their place.
    """

    kept: tuple[str, ...]
    instead: Mapping[str, str]

    def forms(self, bases: Iterable[tuple[str, str]]) -> dict[str, str]:
        """Return what is read instead of words and forms without a row; forms of words without a row are dropped."""
        kept = frozenset(self.kept)
        return {**self.instead, **{form: base for form, base in bases if base in kept and form not in kept}}


def with_fewer_words(part: SentencePart, training: Sequence[str], most: int = MOST_WORDS) -> SentencePart:
    """Return a sentence part whose encoder and word vectors have fewer rows.

    Args:
        part: which is complete.
        training: words of the training texts, most frequent first; they are kept before all others.
        most: how many words keep a row.

    Returns:
        The part, which is to be written and not to be computed with; as given where it reads no encoder, or one of
        fewer words.
    """
    states = next((each for each in part.kinds if isinstance(each, EncoderStates)), None)
    means = next((each for each in part.kinds if isinstance(each, MeanOfVectors)), None)
    if states is None or not states.content:
        return part
    words = _vocabulary(states)["trainable"]
    if len(words) <= most:
        return part
    fewer = _fewer(words, means, training, most)

    def cut(features: SentenceFeatures) -> SentenceFeatures:
        if isinstance(features, EncoderStates):
            return replace(features, content=_cut_encoder(features, fewer, ngrams=part.features.sides > 1))
        return _cut_vectors(features, fewer) if isinstance(features, MeanOfVectors) else features

    texts = part.features.texts
    own = (
        replace(texts, parts=tuple(map(cut, texts.parts)))
        if isinstance(texts, JoinedFeatures)
        else cut(texts)
    )
    return replace(part, features=replace(part.features, texts=own))


def _fewer(words: Sequence[str], means: MeanOfVectors | None, training: Sequence[str], most: int) -> Fewer:
    """Choose the words that keep a row among those of an encoder, which are in lower case, most common first."""
    known, bases = frozenset(words), {} if means is None else means.bases
    lowered = (word.lower() for word in training)
    own = (word if word in known else bases.get(word, "") for word in lowered)
    chosen = frozenset(list(dict.fromkeys([*filter(known.__contains__, own), *words]))[:most])
    kept = tuple(word for word in words if word in chosen)
    return Fewer(kept, {} if means is None else _instead(kept, words[:MOST_READ], means.rows))


def _instead(kept: Sequence[str], words: Sequence[str], rows: SharedRows) -> dict[str, str]:
    """Return for each word without a row the common one whose vector has the largest cosine with its own."""
    common = [word for word in kept if word in rows.row][:MOST_NEAR]
    chosen = frozenset(kept)
    others = [word for word in words if word not in chosen and word in rows.row]
    if not common or not others:
        return {}
    units = rows.codes.astype(np.float32)
    units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1)
    units = units @ np.linalg.eigh(units.T @ units)[1][:, -_AXES:]
    near = units[[rows.row[word] for word in common]].T
    places = [rows.row[word] for word in others]
    blocks = (places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE))
    best = np.concatenate([(units[block] @ near).argmax(axis=1) for block in blocks])
    return {word: common[place] for word, place in zip(others, best, strict=True)}


def _vocabulary(states: EncoderStates) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(states.content["vocabulary"].tobytes())
    return found


def _cut_encoder(states: EncoderStates, fewer: Fewer, *, ngrams: bool) -> dict[str, NDArray[np.generic]]:
    """Return what a file keeps of an encoder: of the words that keep a row, and n-grams only where they are read.

    Features of a text are without n-grams where only unknown words have any; how the words of two texts find each other
    is not.
    """
    vocabulary = _vocabulary(states)
    row = {word: place for place, word in enumerate(vocabulary["trainable"], start=_SPECIAL_ROWS)}
    rows = [*range(_SPECIAL_ROWS), *(row[word] for word in fewer.kept)]
    bases = fewer.forms(vocabulary["baseforms"].items())
    names = json.loads(states.content["config"].tobytes())["network"]["words"]
    rows_of = {names["trained"]: rows}
    table = {**vocabulary, "trainable": fewer.kept, "baseforms": bases}
    rule = vocabulary.get("ngrams", {})
    if rule.get("unknown_alone") and not ngrams:
        table["ngrams"] = {**rule, "rows": 1}
        rows_of[names["ngrams"]] = [0]
    cut = {KEPT + name + end: kept for name, kept in rows_of.items() for end in ("", SCALE)}
    return {
        **{name: each[cut[name]] if name in cut else each for name, each in states.content.items()},
        "vocabulary": np.frombuffer(json.dumps(table).encode(), np.uint8),
    }


def _cut_vectors(means: MeanOfVectors, fewer: Fewer) -> MeanOfVectors:
    """Return word vectors of the words that keep a row."""
    chosen = frozenset(fewer.kept)
    words = [word for word in means.rows.words if word.lower() in chosen]
    places = [means.rows.row[word] for word in words]
    rows = SharedRows(tuple(words), means.rows.codes[places], means.rows.scale[places])
    forms = Fewer(tuple(words), fewer.instead).forms(means.bases.items())
    return replace(
        means, rows=rows, baseforms="\n".join(f"{form}\t{base}" for form, base in sorted(forms.items()))
    )
