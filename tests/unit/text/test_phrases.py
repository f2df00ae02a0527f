"""Phrases by the dependency tree, and texts in which they are exchanged."""

from __future__ import annotations

import random

from heedful.text.augmenting import ChangeRule, Copier, changed, frequency_kinds
from heedful.text.phrases import PhrasePools, Subtree, common_words, phrases_of

#        What    is  the  capital of  Peru
WORDS = ("What", "is", "the", "capital", "of", "Peru")
HEADS = (0, 1, 4, 1, 6, 4)
RELATIONS = ("root", "cop", "det", "nsubj", "case", "nmod")
COMMON = frozenset({"What", "is", "the", "of"})


def test_a_phrase_is_a_word_with_what_depends_on_it() -> None:
    assert phrases_of(WORDS, HEADS, RELATIONS, COMMON) == (
        Subtree(2, 6, ("nsubj", 3, "the")),
        Subtree(4, 6, ("nmod", 2, "of")),
    )
    subtypes = (*RELATIONS[:5], "nmod:poss")
    assert phrases_of(WORDS, HEADS, subtypes, COMMON)[1].kind == ("nmod", 2, "of")


def test_no_phrase_has_a_gap_or_is_one_common_word_or_the_whole() -> None:
    crossing = (2, 0, 2, 1)  # the last word depends on the first, with others between them
    assert phrases_of(("a", "b", "c", "d"), crossing, ("obj", "root", "obj", "nmod"), frozenset({"c"})) == (
        Subtree(3, 4, ("nmod", 1, "")),
    )
    assert phrases_of(("one",), (0,), ("obj",), frozenset()) == ()
    assert phrases_of((), (), (), frozenset()) == ()
    circle = (2, 1, 0)  # damaged trees end too
    assert Subtree(2, 3, ("obj", 1, "")) in phrases_of(("a", "b", "c"), circle, ("obj",) * 3, frozenset())
    unknown = phrases_of(("a", "b"), (-1, -1), ("", ""), frozenset())
    assert unknown == ()


def test_common_words_are_in_one_text_of_fifty() -> None:
    texts = [("the", f"w{number}", "the") for number in range(100)]
    texts[3] = ("the", "often")
    texts[4] = ("the", "often")
    assert common_words(texts) == {"the", "often"}


def test_phrases_of_the_same_kind_stand_in_their_places() -> None:
    other = ("What", "was", "the", "name", "of", "her", "dog")
    parses = [
        (HEADS, RELATIONS),
        ((0, 1, 4, 1, 7, 7, 4), ("root", "cop", "det", "nsubj", "case", "nmod:poss", "nmod")),
    ]
    texts = [WORDS, other]
    phrases = [
        phrases_of(words, heads, relations, COMMON)
        for words, (heads, relations) in zip(texts, parses, strict=True)
    ]
    pools = PhrasePools(texts, phrases)
    found = {pools.exchanged(WORDS, phrases[0], random.Random(seed)) for seed in range(60)}
    assert {" ".join(words) for words in found} == {
        "What is the capital of Peru",  # the same phrase was drawn
        "What is the capital of her dog",
        "What is the name of her dog",
    }
    assert pools.exchanged(WORDS, phrases[0], random.Random(5)) == pools.exchanged(
        WORDS, phrases[0], random.Random(5)
    )


def test_a_text_without_phrases_that_others_have_stays() -> None:
    phrases = [phrases_of(WORDS, HEADS, RELATIONS, COMMON)]
    assert PhrasePools([WORDS], phrases).exchanged(WORDS, phrases[0], random.Random(0)) == WORDS
    assert PhrasePools([WORDS], [()]).exchanged(WORDS, (), random.Random(0)) == WORDS


def test_a_copier_exchanges_phrases_as_often_as_its_rule_says() -> None:
    texts = [WORDS, ("Who", "wrote", "of", "her", "dog")]
    phrases = [phrases_of(WORDS, HEADS, RELATIONS, COMMON), (Subtree(2, 5, ("nmod", 2, "of")),)]
    kinds = frequency_kinds(texts)
    masks = ChangeRule(mask=1.0, swap=0.0, ngram=0.0)
    both = Copier(texts, kinds, ChangeRule(1.0, 0.0, 0.0, phrases=0.5), phrases)
    made = [words for (words,), _ in zip(both.copies([0], random.Random(0)), range(200), strict=False)]
    masked = sum(len(set(words)) == 1 for words in made)
    assert 70 < masked < 130
    assert {" ".join(words) for words in made if len(set(words)) > 1} == {
        "What is the capital of Peru",
        "What is the capital of her dog",
    }
    alone = Copier(texts, kinds, masks, None)
    first, source = next(alone.copies([0], random.Random(3))), random.Random(3)
    assert first == (changed(WORDS, kinds[0], alone._words, masks, source),), "nothing more is drawn"
