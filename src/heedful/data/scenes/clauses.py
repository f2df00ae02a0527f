"""What the scenes say, clause by clause, and the words that put it into English, with the few forms that it needs.

Everything is small on purpose: a model must learn each word from the generated pairs alone. `WordLimits` narrows the
tables further; the more words it takes, the harder the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

from heedful.errors import UsageError

# Singular: (plural, hypernym in the plural). Animals and people take turns: any beginning of the table has both.
CREATURES = {
    "dog": ("dogs", "animals"),
    "boy": ("boys", "people"),
    "cat": ("cats", "animals"),
    "girl": ("girls", "people"),
    "horse": ("horses", "animals"),
    "doctor": ("doctors", "people"),
    "goat": ("goats", "animals"),
    "farmer": ("farmers", "people"),
    "duck": ("ducks", "animals"),
    "sailor": ("sailors", "people"),
    "pig": ("pigs", "animals"),
    "baker": ("bakers", "people"),
}
THINGS = ("box", "cup", "lamp", "book", "clock", "chair", "basket", "bottle")

# Base form: present participle. Nobody does two of these at a time.
ACTIVITIES = {
    "sleep": "sleeping",
    "run": "running",
    "swim": "swimming",
    "sit": "sitting",
    "jump": "jumping",
    "eat": "eating",
    "sing": "singing",
    "wait": "waiting",
    "work": "working",
    "rest": "resting",
}

# Third person singular: past participle.
ACTIONS = {
    "chases": "chased",
    "pushes": "pushed",
    "follows": "followed",
    "helps": "helped",
    "watches": "watched",
    "kicks": "kicked",
    "carries": "carried",
    "greets": "greeted",
}

# A relation between two places and its converse.
RELATIONS = {
    "above": "below",
    "below": "above",
    "behind": "in front of",
    "in front of": "behind",
}

COLORS = ("red", "blue", "green", "white", "black", "brown")
SIZES = ("big", "small")
PLACES = ("garden", "park", "kitchen", "street", "barn", "forest")

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}


@dataclass(frozen=True)
class WordLimits:
    """How many words of the tables that matter most for difficulty are used, from the first on.

    Attributes:
        nouns: creatures, 2 to 12.
        activities: 3 to 10.
        colors: 1 to 6.
    """

    nouns: int = 8
    activities: int = 6
    colors: int = 4

    def __post_init__(self) -> None:
        for name, table, least in (
            ("nouns", CREATURES, 2),
            ("activities", ACTIVITIES, 3),
            ("colors", COLORS, 1),
        ):
            value = getattr(self, name)
            if not least <= value <= len(table):
                raise UsageError(f"{name} must be {least} to {len(table)}; got {value}")

    @property
    def creatures(self) -> list[str]:
        """The creatures in use, singular."""
        return list(CREATURES)[: self.nouns]

    @property
    def verbs(self) -> list[str]:
        """The activities in use, base form."""
        return list(ACTIVITIES)[: self.activities]

    @property
    def shades(self) -> list[str]:
        """The colors in use."""
        return list(COLORS[: self.colors])


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
        color: narrows the kind, "" for none.
    """

    quantity: str
    kind: str
    activity: str
    color: str = ""


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
    return " and ".join(clause_text(clause) for clause in sentence)


def clause_text(clause: Clause) -> str:
    """Write one clause."""
    match clause:
        case Does(noun, activities, negated, place):
            participles = " or ".join(ACTIVITIES[activity] for activity in activities)
            where = f" in the {place}" if place else ""
            return f"the {noun} is {'not ' if negated else ''}{participles}{where}"
        case HowMany(quantity, kind, activity, color):
            return " ".join(filter(None, (quantity, color, kind, activity)))
        case Acts(action, agent, patient, passive):
            if passive:
                return f"{_the(patient)} is {ACTIONS[action]} by {_the(agent)}"
            return f"{_the(agent)} {action} {_the(patient)}"
        case Lies(relation, first, second):
            return f"{_the(first)} is {relation} {_the(second)}"


def _the(entity: Entity) -> str:
    return " ".join(filter(None, ("the", entity.adjective, entity.noun)))
