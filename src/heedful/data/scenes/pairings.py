"""One function a phenomenon: the premises and hypotheses among which binding decides.

Each draws words, then lists every premise that can be made from the same words, and hypotheses to put to them. Since
all premises of a list are the same bag of words, and the label is picked before the premise, no bag of words tells the
label: only what is bound to what does. The first line of each docstring is what `phenomena` shows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import NamedTuple

from heedful.data.scenes.clauses import (
    ACTIONS,
    CREATURES,
    NUMBERS,
    PLACES,
    RELATIONS,
    SIZES,
    THINGS,
    Acts,
    Clause,
    Does,
    Entity,
    HowMany,
    Lies,
    Sentence,
    WordLimits,
)


class PremiseChoice(NamedTuple):
    """Premises of one bag of words, and hypotheses; each hypothesis meets all three labels among the premises."""

    premises: list[Sentence]
    hypotheses: list[Sentence]


Pairing = Callable[[Random, WordLimits], PremiseChoice]


def word_order(random: Random, words: WordLimits) -> PremiseChoice:
    """Who does what to whom, and which of the two is red: told by word order alone."""
    action, nouns, looks = (
        random.choice(list(ACTIONS)),
        random.sample(words.creatures, 2),
        _looks(random, words),
    )
    premises: list[Sentence] = [
        (Acts(action, Entity(agent, first), Entity(patient, second)),)
        for agent, patient in permutations(nouns)
        for first, second in permutations(looks)
    ]
    return PremiseChoice(
        premises, [(Acts(action, *pair),) for pair in _one_described(nouns, random.choice(looks))]
    )


def voice(random: Random, words: WordLimits) -> PremiseChoice:
    """The same event in the active and in the passive voice."""
    action, nouns = random.choice(list(ACTIONS)), random.sample(words.creatures, 2)
    pairs = _one_described(nouns, random.choice(_looks(random, words)))
    passive = random.random() < 0.5
    return PremiseChoice(
        [(Acts(action, *pair, passive=passive),) for pair in pairs],
        [(Acts(action, *pair, passive=not passive),) for pair in pairs],
    )


def position(random: Random, words: WordLimits) -> PremiseChoice:
    """Where a thing is: a relation in the premise, its converse in the hypothesis."""
    relation, nouns = random.choice(list(RELATIONS)), random.sample(THINGS, 2)
    pairs = _one_described(nouns, random.choice(_looks(random, words)))
    converse = RELATIONS[relation]
    return PremiseChoice(
        [(Lies(relation, *pair),) for pair in pairs], [(Lies(converse, *pair),) for pair in pairs]
    )


def negation(random: Random, words: WordLimits) -> PremiseChoice:
    """Which of two clauses "not" belongs to."""
    nouns, verbs = random.sample(words.creatures, 2), random.sample(words.verbs, 2)
    premises = [
        sentence
        for first, second in permutations(nouns)
        for v, w in permutations(verbs)
        for sentence in _both_orders(Does(first, (v,)), Does(second, (w,), negated=True))
    ]
    negated = random.random() < 0.5
    return PremiseChoice(premises, [(Does(noun, (verb,), negated),) for noun in nouns for verb in verbs])


def conjunction(random: Random, words: WordLimits) -> PremiseChoice:
    """What is joined by "and" may be dropped; of two joined by "or" neither is sure."""
    nouns, verbs = random.sample(words.creatures, 2), random.sample(words.verbs, 3)
    premises = [
        sentence
        for first, second in permutations(nouns)
        for v, w, x in permutations(verbs)
        for sentence in _both_orders(Does(first, (v,)), Does(second, (w, x)))
    ]
    return PremiseChoice(premises, [(Does(noun, (verb,)),) for noun in nouns for verb in verbs])


def location(random: Random, words: WordLimits) -> PremiseChoice:
    """Which of two activities happens in the place."""
    nouns, verbs, place = (
        random.sample(words.creatures, 2),
        random.sample(words.verbs, 2),
        random.choice(PLACES),
    )
    # The clause with the place comes first: at the end it could be read as the place of both.
    premises: list[Sentence] = [
        (Does(first, (v,), place=place), Does(second, (w,)))
        for first, second in permutations(nouns)
        for v, w in permutations(verbs)
    ]
    return PremiseChoice(premises, [(Does(noun, (verb,), place=place),) for noun in nouns for verb in verbs])


def numbers(random: Random, words: WordLimits) -> PremiseChoice:
    """Which number counts whom, and whether it is enough."""
    low, high = sorted(random.sample(list(NUMBERS), 2), key=NUMBERS.__getitem__)
    bound = random.choice([n for n in NUMBERS if NUMBERS[low] < NUMBERS[n] <= NUMBERS[high]])
    asked = random.choice((low, high, f"at least {bound}", f"fewer than {bound}"))
    return _counted(random, words, (low, high), asked)


def quantifiers(random: Random, words: WordLimits) -> PremiseChoice:
    """All, some and no: of which kind each is said."""
    given, asked = random.choice(((("all", "no"), "some"), (("all", "some"), "all"), (("all", "some"), "no")))
    return _counted(random, words, given, asked)


def modifiers(random: Random, words: WordLimits) -> PremiseChoice:
    """Dropping a modifier keeps "some red dogs" true, adding one keeps "no dogs" true; not the reverse."""
    kinds, verbs = _plurals(random.sample(words.creatures, 2)), random.sample(words.verbs, 2)
    color = random.choice(words.shades)
    premises = [
        sentence
        for some, no in permutations(kinds)
        for v, w in permutations(verbs)
        for left, right in permutations((color, ""))
        for sentence in _both_orders(HowMany("some", some, v, left), HowMany("no", no, w, right))
    ]
    asked = random.choice((color, ""))
    return PremiseChoice(premises, _some_or_no(kinds, verbs, asked))


def hypernyms(random: Random, words: WordLimits) -> PremiseChoice:
    """Some dogs are some animals, and where no animals are no dogs are; not the reverse."""
    kinds, verbs = CREATURES[random.choice(words.creatures)], random.sample(words.verbs, 2)
    premises = [
        sentence
        for some, no in permutations(kinds)
        for v, w in permutations(verbs)
        for sentence in _both_orders(HowMany("some", some, v), HowMany("no", no, w))
    ]
    return PremiseChoice(premises, _some_or_no(list(kinds), verbs))


PAIRINGS: dict[str, Pairing] = {
    "word_order": word_order,
    "voice": voice,
    "position": position,
    "negation": negation,
    "conjunction": conjunction,
    "location": location,
    "numbers": numbers,
    "quantifiers": quantifiers,
    "modifiers": modifiers,
    "hypernyms": hypernyms,
}


def _counted(random: Random, words: WordLimits, given: tuple[str, str], asked: str) -> PremiseChoice:
    kinds, verbs = _plurals(random.sample(words.creatures, 2)), random.sample(words.verbs, 2)
    premises = [
        sentence
        for first, second in permutations(kinds)
        for v, w in permutations(verbs)
        for sentence in _both_orders(HowMany(given[0], first, v), HowMany(given[1], second, w))
    ]
    return PremiseChoice(premises, [(HowMany(asked, kind, verb),) for kind in kinds for verb in verbs])


def _some_or_no(kinds: list[str], verbs: list[str], color: str = "") -> list[Sentence]:
    return [(HowMany(q, kind, verb, color),) for q in ("some", "no") for kind in kinds for verb in verbs]


def _both_orders(one: Clause, other: Clause) -> tuple[Sentence, Sentence]:
    return (one, other), (other, one)


def _one_described(nouns: list[str], look: str) -> list[tuple[Entity, Entity]]:
    """List the two orders of two entities, with the adjective on the one or on the other."""
    return [
        pair
        for first, second in permutations(nouns)
        for pair in ((Entity(first, look), Entity(second)), (Entity(first), Entity(second, look)))
    ]


def _looks(random: Random, words: WordLimits) -> tuple[str, str]:
    return random.choice(words.shades), random.choice(SIZES)


def _plurals(nouns: list[str]) -> list[str]:
    return [CREATURES[noun][0] for noun in nouns]
