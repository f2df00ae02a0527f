"""The words of the scenes, with the few forms that English needs.

Everything is small on purpose: a model must learn each word from the generated pairs alone. `Words` narrows the tables
further; the more words it takes, the harder the corpus.
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

COLOURS = ("red", "blue", "green", "white", "black", "brown")
SIZES = ("big", "small")
PLACES = ("garden", "park", "kitchen", "street", "barn", "forest")

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}


@dataclass(frozen=True)
class Words:
    """How many words of the tables that matter most for difficulty are used, from the first on.

    Attributes:
        nouns: creatures, 2 to 12.
        activities: 3 to 10.
        colours: 1 to 6.
    """

    nouns: int = 8
    activities: int = 6
    colours: int = 4

    def __post_init__(self) -> None:
        for name, table, least in (
            ("nouns", CREATURES, 2),
            ("activities", ACTIVITIES, 3),
            ("colours", COLOURS, 1),
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
        """The colours in use."""
        return list(COLOURS[: self.colours])
