"""Explanations of tags without torch; see `heedful.tasks.words.tagging` for the same with torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from heedful.errors import UsageError
from heedful.explain.assembling import ValuesExplained, assembled, explained_by, with_looked
from heedful.explain.explanation import Explanation, SentenceView, TagOfWord
from heedful.explain.legends import NO_NETWORK, SYSTEMS, System, caption, shared_place
from heedful.explain.methods import MethodChoice
from heedful.explain.methods.game import ChainedTags, game_of_word
from heedful.model.answers import Shown, TagsAnswer
from heedful.runtime.kernels import Floats
from heedful.runtime.looking import Values
from heedful.runtime.model import finite
from heedful.runtime.tag_model import Tagger
from heedful.runtime.tag_paths import log_softmax
from heedful.structures import MapPlace
from heedful.text.vocabulary import mask_of


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


def values_of_tag(
    tags: Sequence[str], row: Floats, place: int, words: Sequence[str], number: int, why: str | None
) -> ValuesExplained:
    """Return what is explained of the tag of one word.

    Args:
        tags: all tags in the order of the logits.
        row: logits of the word, [Y].
        place: of the word, from 0.
        words: of the text.
        number: of the tag that the word has.
        why: another tag that is asked about; None for its own.

    Returns:
        The log-odds of the tag, and of the tags that are most probable beside it.

    Raises:
        UsageError: if there is no such tag.
    """
    shares = np.exp(log_softmax(np.asarray(row, np.float64)[None]))[0].tolist()
    found = ValuesExplained.of(Shown(tuple(tags), tuple(shares), answered=number), why)
    word = words[place]
    value, *others = [each.named(f"{each.label} for {word}") for each in (found.value, *found.others)]
    return replace(found, value=value, others=tuple(others))


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
        choice: the method that says what each word contributes to the tag of one of them.
        word: the word whose tag is explained, as itself or as its number from 1; by default the one whose tag is least
            certain.

    Returns:
        The record that the pictures are drawn from; its one label is the text with its tags.

    Raises:
        DataError: if the request is not what the model takes, or too long.
        ArtifactError: if the network gives a number that is not finite.
        UsageError: if the text has no words, or the folder does not say what an explanation shows.
    """
    program, settings = model.program, model.settings
    if program.shown is None:
        raise UsageError("this folder does not say what an explanation shows; use heedful explain")
    words = model.placed(request)
    if not words.kept:
        raise UsageError("the text has no words, so there is nothing to explain")
    sight = program.look([(words.ids, words.ngrams)])
    part = model.parts.tagging
    own = model.with_part(finite("prediction", sight.logits, 1), words.kept)
    answer = model.tagged(own, words)
    unknown = tuple(not model.asking.knows(word) for word in words.kept)
    view = SentenceView("text", words.text, words.written, words.spans, unknown, words.truncated)
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
    explanation = replace(explanation, tags=tags_of(answer))
    choice = choice or MethodChoice()
    place = place_of(answer.words, answer.probabilities, word)
    names, tag = model.decision.names, answer.tags[place]
    (logits,) = model.logits_of([(1, (words,))])
    alone = settings.encoder == NO_NETWORK

    def network(texts: list[tuple[str, ...]], places: list[int]) -> list[Floats]:
        rows = model.network_logits([[text] for text in texts])
        return [row[place] for row, place in zip(rows, places, strict=True)]

    def whole(text: tuple[str, ...]) -> Floats:
        return model.with_part(model.network_logits([[text]])[0], text)

    chained = None if part is None else ChainedTags(part, whole, model.paths)
    row = logits[place] if chained is None else (logits + model.paths.context(logits))[place]
    mask = mask_of(model.asking.vocabulary)
    game = game_of_word(words.kept, place, row, None if alone else network, mask, chained)
    values = values_of_tag(names, row, place, words.written, names.index(tag), choice.why)
    return explained_by(explanation, choice, game, values, deletions=True)


def tags_of(answer: TagsAnswer) -> tuple[TagOfWord, ...]:
    """Return the table of the tags of a text."""
    rows = zip(answer.words, answer.tags, answer.probabilities, strict=True)
    return tuple(TagOfWord(*row) for row in rows)


def _means(maps: Mapping[MapPlace, Values]) -> dict[MapPlace, Values]:
    grouped: dict[MapPlace, list[Values]] = {}
    for place, weights in maps.items():
        grouped.setdefault(shared_place(place), []).append(weights)
    return {place: np.mean(own, axis=0) for place, own in grouped.items()}
