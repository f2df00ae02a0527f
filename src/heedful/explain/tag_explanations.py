"""Explanations of tags without torch; see `heedful.tasks.words.tagging` for the same with torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from heedful.errors import UsageError
from heedful.explain.assembling import assembled, explained_by, with_looked
from heedful.explain.explanation import Explanation, SentenceView
from heedful.explain.legends import SYSTEMS, System, caption, shared_place
from heedful.explain.methods import MethodChoice
from heedful.explain.methods.question import Kept, Question, remaining
from heedful.runtime.answers import Shown
from heedful.runtime.looking import Values
from heedful.runtime.model import finite
from heedful.runtime.tag_model import PlacedAsking, Tagger, log_softmax
from heedful.structures import MapPlace
from heedful.text.vocabulary import mask_of

Shares = Callable[[list[tuple[str, ...]], list[int]], ArrayLike]
"""Lists of words, and a place in each, to the probability of the tag there, [N]."""


def place_of(words: Sequence[str], probabilities: Sequence[float], word: int | str | None) -> int:
    """Find the word whose tag is explained.

    Args:
        words: of the text.
        probabilities: of their tags.
        word: the word, or its number from 1; None for the word whose tag is least certain.

    Returns:
        Its place, from 0.

    Raises:
        UsageError: if the text has no such word.
    """
    if word is None:
        return int(np.argmin(probabilities))
    if isinstance(word, str) and word in words:
        return list(words).index(word)
    plain = str(word)
    number = int(plain) if plain.isascii() and plain.isdigit() else 0
    if not 1 <= number <= len(words):
        raise UsageError(f"word {word!r}: expected a word of the text, or its number from 1 to {len(words)}")
    return number - 1


def asked_about_tag(
    words: Sequence[str], place: int, tag: str, shares: Shares, mask: str | None = None
) -> Question:
    """Ask a model about the tag of one word for any choice of the other words; the word itself always remains.

    Args:
        words: of the text.
        place: of the word, from 0.
        tag: that the model gives it.
        shares: lists of words, and the place of the word in each, to the probability of the tag.
        mask: what stands in the place of a word that is taken away; None deletes it.

    Returns:
        The question.
    """

    def values(choices: Sequence[Kept]) -> ArrayLike:
        texts = [tuple(remaining(words, kept[0], mask)) for kept in choices]
        return shares(texts, [kept[0].index(place) if mask is None else place for kept in choices])

    of = f"the probability of “{tag}” for “{words[place]}”"
    return Question((tuple(words),), values, of, frozenset({(0, place)}), mask)


MANY = 8
"""More maps than this are shown as means over the heads of a layer that share a mask."""
NOTE = "The probability is the mean over the words of that of their tags, each word by itself."


def explain_tags(
    model: Tagger,
    request: str | Sequence[str],
    choice: MethodChoice | None = None,
    word: int | str | None = None,
) -> Explanation:
    """Show what a model looked at when it gave the words of one text their tags.

    Args:
        model: the model.
        request: a text, or a sequence of ready-made words.
        choice: the method that says what each word contributes to the tag of one of them; by default none does.
        word: the word whose tag is explained, as itself or as its number from 1; by default the one whose tag is least
            certain.

    Returns:
        The record that the pictures are drawn from; its one label is the text with its tags.

    Raises:
        DataError: if the request is not what the model takes, or too long.
        ArtefactError: if the network gives a number that is not finite.
        UsageError: if the text has no words, or the folder does not say what an explanation shows.
    """
    program, settings = model.program, model.settings
    if program.shown is None:
        raise UsageError("this folder does not say what an explanation shows; use heedful explain")
    words = model.placed(request)
    if not words.kept:
        raise UsageError("the text has no words, so there is nothing to explain")
    sight = program.look([(words.ids, words.ngrams)])
    answer = model.tagged(finite("prediction", sight.logits, 1), words)
    unknown = tuple(not model.asking.vocabulary.knows(word) for word in words.kept)
    view = SentenceView("text", words.text, words.kept, words.spans, unknown, words.truncated)
    looked, averaged = sight.texts[0], sight.averaged
    if len(looked.maps) > MANY:
        looked, averaged = replace(looked, maps=_means(looked.maps)), frozenset()
    mean = float(np.mean(answer.probabilities, dtype=np.float64))
    explanation = assembled(
        [with_looked(view, looked)],
        Shown((answer.in_a_line(),), (mean,)),
        SYSTEMS.get(settings.encoder, System(settings.encoder)),
        "source2token",
        alignments={},
        averaged={caption(place): place.axis or "features" for place in averaged},
        notes={"probability": NOTE},
    )
    choice = choice or MethodChoice()
    if choice.method is None and word is None:
        return explanation
    place = place_of(answer.words, answer.probabilities, word)
    tag = answer.tags[place]
    shares = _shares(model, model.decision.names.index(tag))
    question = asked_about_tag(answer.words, place, tag, shares, mask_of(model.asking.vocabulary))
    return explained_by(
        explanation, replace(choice, method=choice.method or "occlusion"), question, deletions=True
    )


def _shares(model: Tagger, number: int) -> Shares:
    """Return what gives the probability of a tag at one place of each list of words."""
    settings = replace(model.settings, tokenizer="whitespace", markup="keep", truncate="head")
    reader = Tagger(PlacedAsking(settings, model.asking.vocabulary), model.program, model.decision)

    def shares(texts: list[tuple[str, ...]], places: list[int]) -> list[float]:
        rows = log_softmax(reader.logits(texts))
        starts = np.cumsum([0, *(len(words) for words in texts)])
        return [
            float(np.exp(rows[start + place, number])) for start, place in zip(starts, places, strict=False)
        ]

    return shares


def _means(maps: Mapping[MapPlace, Values]) -> dict[MapPlace, Values]:
    grouped: dict[MapPlace, list[Values]] = {}
    for place, weights in maps.items():
        grouped.setdefault(shared_place(place), []).append(weights)
    return {place: np.mean(own, axis=0) for place, own in grouped.items()}
