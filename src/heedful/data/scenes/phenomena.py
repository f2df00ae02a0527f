"""One function a phenomenon: the premises and hypotheses among which word order decides.

Each draws words, then lists every premise that can be made from the same words, and hypotheses to put to them. Since
all premises of a list are the same bag of words, and `generate` picks the label before it picks the premise, no bag of
words tells the label: only what is bound to what does.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from random import Random
from typing import NamedTuple

from heedful.data.scenes.clauses import Acts, Clause, Does, Entity, HowMany, Lies, Sentence
from heedful.data.scenes.lexicon import (
    ACTIONS,
    ACTIVITIES,
    COLOURS,
    CREATURES,
    NUMBERS,
    PLACES,
    RELATIONS,
    SIZES,
    THINGS,
)

NOUNS, VERBS = tuple(CREATURES), tuple(ACTIVITIES)


class Choice(NamedTuple):
    """Premises of one bag of words, and hypotheses; each hypothesis meets all three labels among the premises."""

    premises: list[Sentence]
    hypotheses: list[Sentence]


Phenomenon = Callable[[Random], Choice]


def word_order(random: Random) -> Choice:
    """Who does what to whom, and which of the two is red: told by word order alone."""
    action, nouns, (colour, size) = random.choice(list(ACTIONS)), random.sample(NOUNS, 2), _looks(random)
    premises: list[Sentence] = [
        (Acts(action, Entity(agent, first), Entity(patient, second)),)
        for agent, patient in permutations(nouns)
        for first, second in permutations((colour, size))
    ]
    kept = random.choice((colour, size))
    return Choice(premises, [(Acts(action, *pair),) for pair in _one_described(nouns, kept)])


def voice(random: Random) -> Choice:
    """The same event in the active and the passive voice."""
    action, nouns, look = random.choice(list(ACTIONS)), random.sample(NOUNS, 2), random.choice(_looks(random))
    passive = random.random() < 0.5
    pairs = _one_described(nouns, look)
    return Choice(
        [(Acts(action, *pair, passive=passive),) for pair in pairs],
        [(Acts(action, *pair, passive=not passive),) for pair in pairs],
    )


def position(random: Random) -> Choice:
    """Where a thing is, told by a relation in the premise and by its converse in the hypothesis."""
    relation, nouns, look = (
        random.choice(list(RELATIONS)),
        random.sample(THINGS, 2),
        random.choice(_looks(random)),
    )
    pairs = _one_described(nouns, look)
    return Choice(
        [(Lies(relation, *pair),) for pair in pairs], [(Lies(RELATIONS[relation], *pair),) for pair in pairs]
    )


def negation(random: Random) -> Choice:
    """Which of two clauses "not" belongs to."""
    nouns, verbs = random.sample(NOUNS, 2), random.sample(VERBS, 2)
    premises = [
        sentence
        for first, second in permutations(nouns)
        for v, w in permutations(verbs)
        for sentence in _both_orders(Does(first, (v,)), Does(second, (w,), negated=True))
    ]
    negated = random.random() < 0.5
    return Choice(premises, [(Does(noun, (verb,), negated),) for noun in nouns for verb in verbs])


def conjunction(random: Random) -> Choice:
    """A part joined by "and" may be dropped; of parts joined by "or" neither is sure."""
    nouns, verbs = random.sample(NOUNS, 2), random.sample(VERBS, 3)
    premises = [
        sentence
        for first, second in permutations(nouns)
        for v, w, x in permutations(verbs)
        for sentence in _both_orders(Does(first, (v,)), Does(second, (w, x)))
    ]
    return Choice(premises, [(Does(noun, (verb,)),) for noun in nouns for verb in verbs])


def location(random: Random) -> Choice:
    """Which of two activities happens in the place."""
    nouns, verbs, place = random.sample(NOUNS, 2), random.sample(VERBS, 2), random.choice(PLACES)
    # The clause with the place comes first: at the end it could be read as the place of both.
    premises: list[Sentence] = [
        (Does(first, (v,), place=place), Does(second, (w,)))
        for first, second in permutations(nouns)
        for v, w in permutations(verbs)
    ]
    return Choice(premises, [(Does(noun, (verb,), place=place),) for noun in nouns for verb in verbs])


def numbers(random: Random) -> Choice:
    """Which number counts whom, and whether it is enough."""
    low, high = sorted(random.sample(list(NUMBERS), 2), key=NUMBERS.__getitem__)
    between = random.choice([n for n in NUMBERS if NUMBERS[low] < NUMBERS[n] <= NUMBERS[high]])
    below = random.choice([n for n in NUMBERS if NUMBERS[low] <= NUMBERS[n] < NUMBERS[high]])
    asked = (low, high, f"at least {between}", f"fewer than {between}", f"more than {below}")
    return _counted(random, (low, high), asked[:2] if random.random() < 0.5 else asked[2:])


def quantifiers(random: Random) -> Choice:
    """All, some and no: which kind each is said of."""
    given, asked = random.choice(((("all", "no"), "some"), (("all", "some"), "all"), (("all", "some"), "no")))
    return _counted(random, given, (asked,))


def modifiers(random: Random) -> Choice:
    """Dropping a modifier keeps "some red dogs" true, adding one keeps "no dogs" true, and not the reverse."""
    kinds, verbs, colour = _plurals(random.sample(NOUNS, 2)), random.sample(VERBS, 2), random.choice(COLOURS)
    premises = [
        sentence
        for some, no in permutations(kinds)
        for v, w in permutations(verbs)
        for left, right in permutations((colour, ""))
        for sentence in _both_orders(HowMany("some", some, v, left), HowMany("no", no, w, right))
    ]
    return Choice(
        premises,
        [
            (HowMany(quantity, kind, verb, asked),)
            for quantity in ("some", "no")
            for kind in kinds
            for verb in verbs
            for asked in (colour, "")
        ],
    )


def hypernyms(random: Random) -> Choice:
    """Some dogs are some animals, and no animals means no dogs; not the reverse."""
    noun, verbs = random.choice(NOUNS), random.sample(VERBS, 2)
    kinds = CREATURES[noun]
    premises = [
        sentence
        for some, no in permutations(kinds)
        for v, w in permutations(verbs)
        for sentence in _both_orders(HowMany("some", some, v), HowMany("no", no, w))
    ]
    return Choice(
        premises,
        [(HowMany(quantity, kind, verb),) for quantity in ("some", "no") for kind in kinds for verb in verbs],
    )


PHENOMENA: dict[str, Phenomenon] = {
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


def _counted(random: Random, given: tuple[str, str], asked: tuple[str, ...]) -> Choice:
    kinds, verbs = _plurals(random.sample(NOUNS, 2)), random.sample(VERBS, 2)
    premises = [
        sentence
        for first, second in permutations(kinds)
        for v, w in permutations(verbs)
        for sentence in _both_orders(HowMany(given[0], first, v), HowMany(given[1], second, w))
    ]
    quantity = random.choice(asked)
    return Choice(premises, [(HowMany(quantity, kind, verb),) for kind in kinds for verb in verbs])


def _both_orders(one: Clause, other: Clause) -> tuple[Sentence, Sentence]:
    return (one, other), (other, one)


def _one_described(nouns: list[str], look: str) -> list[tuple[Entity, Entity]]:
    return [
        pair
        for first, second in permutations(nouns)
        for pair in ((Entity(first, look), Entity(second)), (Entity(first), Entity(second, look)))
    ]


def _looks(random: Random) -> tuple[str, str]:
    return random.choice(COLOURS), random.choice(SIZES)


def _plurals(nouns: list[str]) -> list[str]:
    return [CREATURES[noun][0] for noun in nouns]
