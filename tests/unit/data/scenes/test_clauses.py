from __future__ import annotations

import re

import pytest

from heedful.data.scenes import generate
from heedful.data.scenes.clauses import (
    ACTIONS,
    ACTIVITIES,
    COLORS,
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
    clause_text,
    text_of,
)


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        (Does("dog", ("run",)), "the dog is running"),
        (Does("dog", ("sit",), negated=True), "the dog is not sitting"),
        (Does("cat", ("eat", "sing"), place="barn"), "the cat is eating or singing in the barn"),
        (HowMany("no", "cats", "sleep"), "no cats sleep"),
        (HowMany("at least two", "dogs", "run", "red"), "at least two red dogs run"),
        (Acts("carries", Entity("boy", "big"), Entity("cat")), "the big boy carries the cat"),
        (
            Acts("carries", Entity("boy", "big"), Entity("cat"), passive=True),
            "the cat is carried by the big boy",
        ),
        (Lies("in front of", Entity("cup"), Entity("box", "red")), "the cup is in front of the red box"),
    ],
)
def test_says(clause: Clause, text: str) -> None:
    assert clause_text(clause) == text


def test_joins_clauses() -> None:
    assert (
        text_of((HowMany("no", "cats", "sleep"), Does("dog", ("run",))))
        == "no cats sleep and the dog is running"
    )


def _any(words: object) -> str:
    return "(?:" + "|".join(words) + ")"


# The whole grammar, written a second time: singular with "is" or "-s", plural with the base form, no "a" or "an".
_CREATURE = f"the (?:{_any(COLORS + SIZES)} )?{_any(CREATURES)}"
_THING = f"the (?:{_any(COLORS + SIZES)} )?{_any(THINGS)}"
_PLURAL = _any([form for forms in CREATURES.values() for form in forms])
_QUANTITY = f"(?:no|some|all|(?:at least |fewer than )?{_any(NUMBERS)})"
_DOING = (
    f"(?:not )?{_any(ACTIVITIES.values())}(?: or {_any(ACTIVITIES.values())})?(?: in the {_any(PLACES)})?"
)
_CLAUSES = {
    "does": f"the {_any(CREATURES)} is {_DOING}",
    "how many": f"{_QUANTITY} (?:{_any(COLORS)} )?{_PLURAL} {_any(ACTIVITIES)}",
    "active": f"{_CREATURE} {_any(ACTIONS)} {_CREATURE}",
    "passive": f"{_CREATURE} is {_any(ACTIONS.values())} by {_CREATURE}",
    "lies": f"{_THING} is {_any(RELATIONS)} {_THING}",
}


def test_every_sentence_of_the_corpus_is_grammatical() -> None:
    seen = dict.fromkeys(_CLAUSES, 0)
    for example in generate(6_000, 0, 0, nouns=12, activities=10, colors=6)["train"].examples:
        for text in example.texts:
            for clause in text.split(" and "):
                kinds = [kind for kind, pattern in _CLAUSES.items() if re.fullmatch(pattern, clause)]
                assert len(kinds) == 1, clause
                seen[kinds[0]] += 1
    assert min(seen.values()) >= 500
