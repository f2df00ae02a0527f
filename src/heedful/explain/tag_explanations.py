"""Explanations of tags: what each word contributes to the tag of one of them, whatever computes the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from heedful.attention_names import MapPlace
from heedful.errors import UsageError
from heedful.explain.explanation import Explanation
from heedful.explain.explanation_parts import ValuesExplained, assembled, averages, explained_by, with_looked
from heedful.explain.explanation_record import SentenceView, TagOfWord
from heedful.explain.legends import SYSTEMS, SystemNames, shared_place
from heedful.explain.methods import MethodChoice
from heedful.explain.methods.word_game import ChainedTags, game_of_word
from heedful.model.answers import ShownAnswer, TagsAnswer
from heedful.model.attention_records import Sight, Values
from heedful.model.decisions import TagsDecision
from heedful.model.engine import NO_NETWORK, Floats
from heedful.model.model import Model
from heedful.runtime.tag_part import TagPart


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


def values_of_tag(shown: ShownAnswer, word: str, why: str | None) -> ValuesExplained:
    """Return what is explained of the tag of one word.

    Args:
        shown: the tags and their probabilities, and which of them the word has.
        word: as it was written.
        why: another tag to explain; None for its own.

    Returns:
        The log-odds of the tag, and of the tags that are most probable beside it.

    Raises:
        UsageError: if there is no such tag.
    """
    found = ValuesExplained.of(shown, why)
    value, *others = [each.named(f"{each.label} for {word}") for each in (found.value, *found.others)]
    return replace(found, value=value, others=tuple(others))


MANY = 8
"""More maps than this are shown as means over the heads of a layer that share a mask."""
NOTE = "The probability is the mean over the words of that of their tags, each word by itself."


def explain_tags(
    model: Model[Any, Any], request: object, choice: MethodChoice, word: int | str | None = None
) -> Explanation:
    """Show what a model looked at when it gave the words of one text their tags.

    Args:
        model: of tags.
        request: a text, or a sequence of ready-made words.
        choice: the method that says what each word contributes to the tag of one of them.
        word: the word whose tag is explained, as itself or as its number from 1; by default the one whose tag is least
            certain.

    Returns:
        The record that the pictures are drawn from; its one label is the text with its tags.

    Raises:
        DataError: if the request is not what the model takes, or too long.
        ArtifactError: if the network gives a number that is not finite.
        UsageError: if the text has no words, or not this one.
    """
    engine = model.engine
    tagged = model.tagged_text(request)
    words, answer = tagged.words, tagged.answer
    unknown = tuple(not model.reading.knows(each) for each in words)
    view = SentenceView("text", tagged.text, answer.words, answer.offsets, unknown, answer.truncated)
    mean = float(np.mean(answer.probabilities, dtype=np.float64))
    explanation = attention_of(model, tagged.sight, view, answer.in_a_line(), mean)
    explanation = replace(explanation, tags=tags_of(answer))
    place = place_of(answer.words, answer.probabilities, word)
    names, decision = model.labels, cast(TagsDecision, model.decision)
    alone = model.encoder == NO_NETWORK

    def network(texts: list[tuple[str, ...]], places: list[int]) -> list[Floats]:
        rows = engine.of_words([[text] for text in texts])
        return [row[place] for row, place in zip(rows, places, strict=True)]

    def logits(text: tuple[str, ...]) -> Floats:
        return engine.parts.added_to_words(engine.of_words([[text]])[0], text)

    part: TagPart | None = engine.parts.tagging
    chained = None if part is None else ChainedTags(part, logits, decision.paths)
    (own,) = network([words], [place])
    row = own if chained is None else chained.marginal_logits(words)[place]
    game = game_of_word(words, place, row, None if alone else network, engine.mask, chained)
    shown = replace(decision.shown(row), answered=names.index(answer.tags[place]))
    values = values_of_tag(shown, answer.words[place], choice.why)
    further = engine.gradients(tagged.block, values.value, place, row - own)
    return explained_by(explanation, choice, game, values, further, deletions=True)


def attention_of(
    model: Model[Any, Any], sight: Sight, view: SentenceView, label: str, mean: float
) -> Explanation:
    """Show what a network looked at when it gave the words of one text their tags.

    Args:
        model: of tags or roles.
        sight: what was looked at; of more than `MANY` maps the means are shown.
        view: the words.
        label: the answer in a line, which becomes the one label of the record.
        mean: the mean probability of the tags.

    Returns:
        The explanation.
    """
    (looked,), averaged = sight.texts, averages(sight)
    if len(looked.maps) > MANY:
        looked, averaged = replace(looked, maps=_means(looked.maps)), {}
    return assembled(
        [with_looked(view, looked)],
        ShownAnswer((label,), (mean,)),
        SYSTEMS.get(model.encoder, SystemNames(model.encoder)),
        "source2token",
        alignments={},
        averaged=averaged,
        notes={"probability": NOTE},
    )


def tags_of(answer: TagsAnswer) -> tuple[TagOfWord, ...]:
    """Return the table of the tags of a text."""
    rows = zip(answer.words, answer.tags, answer.probabilities, strict=True)
    return tuple(TagOfWord(*row) for row in rows)


def _means(maps: Mapping[MapPlace, Values]) -> dict[MapPlace, Values]:
    grouped: dict[MapPlace, list[Values]] = {}
    for place, weights in maps.items():
        grouped.setdefault(shared_place(place), []).append(weights)
    return {place: np.mean(own, axis=0) for place, own in grouped.items()}
