"""The little model of meaning: what a premise says about a hypothesis. The rules are explained in docs/scenes.md.

Every clause says that something lies in a set: an activity among those possible, a count among those possible. The
hypothesis follows where the premise's set lies inside its set, and is excluded where the two sets share nothing.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from heedful.data.scenes.clauses import (
    ACTIVITIES,
    COLORS,
    CREATURES,
    NUMBERS,
    PLACES,
    RELATIONS,
    SIZES,
    Acts,
    Clause,
    Does,
    Entity,
    HowMany,
    Lies,
    Sentence,
)

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[Label, ...] = ("entailment", "neutral", "contradiction")

# "All" is one step above every number word: a scale from nobody to everybody.
_ALL = 10
_AMOUNTS = frozenset(range(_ALL + 1))
_HYPERNYMS = dict(CREATURES.values())


def label_of(premise: Sentence, hypothesis: Sentence) -> Label:
    """Return the gold label.

    Args:
        premise: taken to be true.
        hypothesis: contradicted if one premise clause excludes one of its clauses; entailed if each of its clauses
            follows from one premise clause.

    Returns:
        The label.
    """
    verdicts = [[compare(given, asked) for given in premise] for asked in hypothesis]
    if any("contradiction" in row for row in verdicts):
        return "contradiction"
    return "entailment" if all("entailment" in row for row in verdicts) else "neutral"


def compare(premise: Clause, hypothesis: Clause) -> Label:
    """Return what one true clause says about another."""
    match premise, hypothesis:
        case Does(), Does():
            return _compare_doing(premise, hypothesis)
        case HowMany(), HowMany():
            known = _known_amounts(premise, hypothesis)
            return _by_sets(known, _amounts(hypothesis.quantity))
        case Acts(), Acts():
            if premise.action != hypothesis.action:
                return "neutral"
            return _compare_roles((premise.agent, premise.patient), (hypothesis.agent, hypothesis.patient))
        case Lies(), Lies():
            (given_axis, given_things), (asked_axis, asked_things) = (
                _axis_and_order(premise),
                _axis_and_order(hypothesis),
            )
            return _compare_roles(given_things, asked_things) if given_axis == asked_axis else "neutral"
    return "neutral"


def _by_sets(known: Set[object], asked: Set[object]) -> Label:
    if known <= asked:
        return "entailment"
    return "neutral" if known & asked else "contradiction"


def _compare_doing(given: Does, asked: Does) -> Label:
    if given.noun != asked.noun:
        return "neutral"
    what = _by_sets(_possible_activities(given), _possible_activities(asked))
    where = _by_sets(_possible_places(given), _possible_places(asked))
    return _all_of(what, where)


def _possible_activities(clause: Does) -> frozenset[str]:
    named = frozenset(clause.activities)
    return frozenset(ACTIVITIES) - named if clause.negated else named


def _possible_places(clause: Does) -> frozenset[str]:
    return frozenset({clause.place} if clause.place else PLACES)


def _all_of(*verdicts: Label) -> Label:
    if "contradiction" in verdicts:
        return "contradiction"
    return "neutral" if "neutral" in verdicts else "entailment"


def _amounts(quantity: str) -> frozenset[int]:
    match quantity.split():
        case ["no"]:
            return frozenset({0})
        case ["some"]:
            return _AMOUNTS - {0}
        case ["all"]:
            return frozenset({_ALL})
        case ["at", "least", number]:
            return frozenset(range(NUMBERS[number], _ALL + 1))
        case ["fewer", "than", number]:
            return frozenset(range(NUMBERS[number]))
        case _:
            return frozenset({NUMBERS[quantity]})


def _known_amounts(given: HowMany, asked: HowMany) -> frozenset[int]:
    """Return the amounts of the asked kind at the asked activity that the given clause leaves possible."""
    amounts = _amounts(given.quantity)
    same_kind = (given.kind, given.color) == (asked.kind, asked.color)
    if given.activity != asked.activity:
        if same_kind and 0 not in amounts:  # whoever is at one activity is not at another
            return frozenset({0}) if amounts == {_ALL} else _AMOUNTS - {_ALL}
        return _AMOUNTS
    if same_kind:
        return amounts
    if _is_narrower(given, asked) and 0 not in amounts:
        return _AMOUNTS - {0}
    if _is_narrower(asked, given) and amounts == {0}:
        return amounts
    return _AMOUNTS


def _is_narrower(one: HowMany, other: HowMany) -> bool:
    noun_fits = other.kind in (one.kind, _HYPERNYMS.get(one.kind))
    return noun_fits and other.color in ("", one.color)


def _compare_roles(given: tuple[Entity, Entity], asked: tuple[Entity, Entity]) -> Label:
    given_nouns = [entity.noun for entity in given]
    asked_nouns = [entity.noun for entity in asked]
    if given_nouns == asked_nouns[::-1]:
        return "contradiction"
    if given_nouns != asked_nouns:
        return "neutral"
    return _all_of(*(_compare_looks(*pair) for pair in zip(given, asked, strict=True)))


def _compare_looks(given: Entity, asked: Entity) -> Label:
    if asked.adjective in ("", given.adjective):
        return "entailment"
    rivals = next(group for group in (COLORS, SIZES) if asked.adjective in group)
    return "contradiction" if given.adjective in rivals else "neutral"


def _axis_and_order(clause: Lies) -> tuple[str, tuple[Entity, Entity]]:
    """Return one of two converse relations, and the things in the order that it takes them."""
    converse = RELATIONS[clause.relation]
    if clause.relation < converse:
        return clause.relation, (clause.first, clause.second)
    return converse, (clause.second, clause.first)
