from __future__ import annotations

import pytest

from heedful.data.scenes.clauses import Acts, Does, Entity, HowMany, Lies, Sentence
from heedful.data.scenes.meaning import label_of

DOG, CAT = Entity("dog"), Entity("cat")
RED_DOG, RED_CAT, BLUE_DOG = Entity("dog", "red"), Entity("cat", "red"), Entity("dog", "blue")
E, N, C = "entailment", "neutral", "contradiction"


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        # Roles and looks.
        ((Acts("chases", RED_DOG, CAT),), (Acts("chases", DOG, CAT, passive=True),), E),
        ((Acts("chases", RED_DOG, CAT),), (Acts("chases", DOG, RED_CAT),), N),
        ((Acts("chases", RED_DOG, CAT),), (Acts("chases", CAT, DOG),), C),
        ((Acts("chases", RED_DOG, CAT),), (Acts("chases", BLUE_DOG, CAT),), C),
        ((Acts("chases", RED_DOG, CAT),), (Acts("helps", CAT, DOG),), N),
        # Places of things.
        ((Lies("above", RED_DOG, CAT),), (Lies("below", CAT, RED_DOG),), E),
        ((Lies("behind", DOG, CAT),), (Lies("in front of", DOG, CAT),), C),
        ((Lies("behind", DOG, CAT),), (Lies("above", DOG, CAT),), N),
        # Activities exclude each other; "or" leaves both open.
        ((Does("dog", ("run",)),), (Does("dog", ("sit",), negated=True),), E),
        ((Does("dog", ("run",)),), (Does("dog", ("sit",)),), C),
        ((Does("dog", ("run",), negated=True),), (Does("dog", ("sit",)),), N),
        ((Does("dog", ("run", "sit")),), (Does("dog", ("run",)),), N),
        ((Does("dog", ("run", "sit")),), (Does("dog", ("eat",)),), C),
        ((Does("dog", ("run",), place="park"),), (Does("dog", ("run",)),), E),
        ((Does("dog", ("run",)),), (Does("dog", ("run",), place="park"),), N),
        ((Does("dog", ("run",), place="barn"),), (Does("dog", ("run",), place="park"),), C),
        ((Does("dog", ("run",)),), (Does("cat", ("run",)),), N),
        # How many: exact numbers, bounds, kinds within kinds.
        ((HowMany("two", "dogs", "run"),), (HowMany("three", "dogs", "run"),), C),
        ((HowMany("four", "dogs", "run"),), (HowMany("at least three", "dogs", "run"),), E),
        ((HowMany("four", "dogs", "run"),), (HowMany("fewer than four", "dogs", "run"),), C),
        ((HowMany("two", "dogs", "run"),), (HowMany("fewer than three", "dogs", "run"),), E),
        ((HowMany("two", "dogs", "run"),), (HowMany("two", "dogs", "sit"),), N),
        ((HowMany("all", "dogs", "run"),), (HowMany("some", "dogs", "run"),), E),
        ((HowMany("some", "dogs", "run"),), (HowMany("all", "dogs", "run"),), N),
        ((HowMany("all", "dogs", "run"),), (HowMany("some", "dogs", "sit"),), C),
        ((HowMany("some", "dogs", "run"),), (HowMany("all", "dogs", "sit"),), C),
        ((HowMany("some", "dogs", "run", "red"),), (HowMany("some", "dogs", "run"),), E),
        ((HowMany("no", "dogs", "run", "red"),), (HowMany("no", "dogs", "run"),), N),
        ((HowMany("no", "dogs", "run"),), (HowMany("no", "dogs", "run", "red"),), E),
        ((HowMany("some", "dogs", "run"),), (HowMany("no", "animals", "run"),), C),
        ((HowMany("some", "animals", "run"),), (HowMany("some", "dogs", "run"),), N),
        ((HowMany("no", "people", "run"),), (HowMany("no", "boys", "run"),), E),
        # Several clauses: one excluded is enough to contradict, all must follow to entail.
        ((Does("dog", ("run",)), Does("cat", ("sit",))), (Does("cat", ("sit",)), Does("dog", ("run",))), E),
        ((Does("dog", ("run",)),), (Does("dog", ("run",)), Does("cat", ("sit",))), N),
        ((Does("dog", ("run",)),), (Does("dog", ("sit",)), Does("cat", ("sit",))), C),
    ],
)
def test_labels(premise: Sentence, hypothesis: Sentence, label: str) -> None:
    assert label_of(premise, hypothesis) == label
