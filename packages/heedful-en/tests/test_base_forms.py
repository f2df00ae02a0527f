"""Base forms of inflected words: by the lemmas of a treebank, else by rules of spelling."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "making"))

from base_forms import base_forms, lemmas, regular_forms

ROW = "{}\t{form}\t{lemma}\t{tag}\t_\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("walk", {"walks", "walked", "walking", "walker", "walkest"} - {"walker", "walkest"}),
        ("dance", {"dances", "danced", "dancing"}),
        ("carry", {"carries", "carried", "carrying"}),
        ("play", {"plays", "played", "playing"}),
        ("stop", {"stops", "stopped", "stopping"}),
        ("travel", {"travels", "traveled", "travelled", "traveling", "travelling"}),
        ("open", {"opens", "opened", "opening"}),
        ("free", {"freed", "freeing"}),
        ("big", {"bigger", "biggest"}),
        ("nice", {"nicer", "nicest"}),
        ("happy", {"happier", "happiest"}),
        ("box", {"boxes", "boxed", "boxing"}),
        ("glass", {"glasses"}),
        ("painting", {"paintings"}),
        ("kindness", {"kindnesses"}),
    ],
)
def test_regular_forms(word: str, forms: set[str]) -> None:
    assert forms <= set(regular_forms(word))


@pytest.mark.parametrize("wrong", ["stoped", "openned", "walkked", "kindnessed", "quicklys"])
def test_forms_that_no_rule_gives(wrong: str) -> None:
    words = ("stop", "open", "walk", "kindness", "quickly")
    assert wrong not in {form for word in words for form in regular_forms(word)}


def test_a_lemma_goes_before_the_rules_and_a_listed_word_before_both() -> None:
    known = {"leaves": "leave", "went": "go", "mice": "mouse"}
    found = base_forms(["leaf", "leave", "go", "rate", "rat", "rating"], known)
    assert found["leaves"] == "leave"
    assert found["went"] == "go"
    assert found["rated"] == "rate"
    assert found["ratted"] == "rat"
    assert "rating" not in found
    assert "mice" not in found
    assert list(found) == sorted(found)


def test_the_most_frequent_lemma_of_plain_words_is_taken() -> None:
    rows = [ROW.format(1, form="Saw", lemma="see", tag="VERB")] * 2
    rows += [
        ROW.format(1, form="saw", lemma="saw", tag="NOUN"),
        ROW.format(1, form="'s", lemma="be", tag="AUX"),
    ]
    rows += [ROW.format(1, form="Towns", lemma="Town", tag="PROPN"), "# a remark\n", "\n"]
    assert lemmas(rows) == {"saw": "see"}
