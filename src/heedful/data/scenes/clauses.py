"""What the scenes say, clause by clause, and how it is put into English."""

from __future__ import annotations

from dataclasses import dataclass

from heedful.data.scenes.scene_words import ACTIONS, ACTIVITIES


@dataclass(frozen=True, slots=True)
class Does:
    """One creature and its activity: "the dog is sleeping", "the dog is not sleeping", "the dog is sleeping or eating".

    Attributes:
        noun: the creature, singular.
        activities: one activity, or two joined by "or", in base form.
        negated: "is not"; an affirmed clause only may have a place.
        place: where it happens, "" where that is not said.
    """

    noun: str
    activities: tuple[str, ...]
    negated: bool = False
    place: str = ""


@dataclass(frozen=True, slots=True)
class HowMany:
    """How many of a kind are at an activity: "two dogs run", "no red dogs run", "at least two dogs run".

    Attributes:
        quantity: "no", "some", "all", a number word, or "at least"/"fewer than" and a number word.
        kind: the noun in the plural.
        activity: base form.
        colour: narrows the kind, "" for none.
    """

    quantity: str
    kind: str
    activity: str
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Entity:
    """Somebody or something, with what is said about its looks: "red dog"."""

    noun: str
    adjective: str = ""


@dataclass(frozen=True, slots=True)
class Acts:
    """Who does what to whom: "the red dog chases the cat", passive "the cat is chased by the red dog".

    Attributes:
        action: third person singular.
        agent: who does it.
        patient: to whom.
        passive: how it is said; no matter for the meaning.
    """

    action: str
    agent: Entity
    patient: Entity
    passive: bool = False


@dataclass(frozen=True, slots=True)
class Lies:
    """Where one thing is, seen from another: "the red box is above the cup".

    Attributes:
        relation: a key of `RELATIONS`.
        first: what is located.
        second: the landmark.
    """

    relation: str
    first: Entity
    second: Entity


Clause = Does | HowMany | Acts | Lies
Sentence = tuple[Clause, ...]


def text_of(sentence: Sentence) -> str:
    """Write a sentence: its clauses joined by "and", lower case, no full stop."""
    return " and ".join(say(clause) for clause in sentence)


def say(clause: Clause) -> str:
    """Write one clause."""
    match clause:
        case Does(noun, activities, negated, place):
            participles = " or ".join(ACTIVITIES[activity] for activity in activities)
            where = f" in the {place}" if place else ""
            return f"the {noun} is {'not ' if negated else ''}{participles}{where}"
        case HowMany(quantity, kind, activity, colour):
            return " ".join(filter(None, (quantity, colour, kind, activity)))
        case Acts(action, agent, patient, passive):
            if passive:
                return f"{_the(patient)} is {ACTIONS[action]} by {_the(agent)}"
            return f"{_the(agent)} {action} {_the(patient)}"
        case Lies(relation, first, second):
            return f"{_the(first)} is {relation} {_the(second)}"


def _the(entity: Entity) -> str:
    return " ".join(filter(None, ("the", entity.adjective, entity.noun)))
