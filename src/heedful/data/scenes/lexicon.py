"""The words of the scenes, with the few forms that English needs.

Everything is small on purpose: a model must learn each word from the generated pairs alone.
"""

from __future__ import annotations

# Singular: (plural, hypernym in the plural). Within a sentence no noun is the hypernym of another unless a phenomenon
# wants that.
CREATURES = {
    "dog": ("dogs", "animals"),
    "cat": ("cats", "animals"),
    "horse": ("horses", "animals"),
    "goat": ("goats", "animals"),
    "duck": ("ducks", "animals"),
    "pig": ("pigs", "animals"),
    "boy": ("boys", "people"),
    "girl": ("girls", "people"),
    "doctor": ("doctors", "people"),
    "farmer": ("farmers", "people"),
    "sailor": ("sailors", "people"),
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

NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
