from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from heedful.errors import ArtifactError, UsageError
from heedful.text.unknown_words import LONGEST_WORD, NgramRule
from heedful.text.vocabulary import MASK, Vocabulary


def test_rows_are_those_of_the_stated_hash() -> None:
    rule = NgramRule(1000, 3, 4, 2)
    expected = []
    for ngram in ("<na", "naï", "aï>", "<naï", "naï>"):
        digest = hashlib.blake2b(ngram.encode(), digest_size=8).digest()
        expected += [int.from_bytes(digest[:4], "little") % 1000, int.from_bytes(digest[4:], "little") % 1000]
    assert rule.rows_of("naï").tolist() == expected
    assert NgramRule(1000, 3, 4, 1).rows_of("naï").tolist() == expected[::2]


@pytest.mark.parametrize("word", ["", "a", "\ud800", "🙂", "中", "a" * 1000])
def test_every_word_has_a_row_in_the_table(word: str) -> None:
    for rule in (NgramRule(7), NgramRule(1, 5, 5), NgramRule(30, 16, 16, 2)):
        rows = rule.rows_of(word)
        assert len(rows) >= 1
        assert 0 <= rows.min() <= rows.max() < rule.rows
        assert np.array_equal(rows, rule.rows_of(word))


OUT_OF_RANGE = [
    {"rows": 0},
    {"rows": 2**24 + 1},
    {"rows": True},
    {"rows": 2.0},
    {"shortest": 0},
    {"longest": 2},
]
OUT_OF_RANGE += [{"longest": 17}, {"hashes": 3}, {"hashes": 0}]


@pytest.mark.parametrize("wrong", OUT_OF_RANGE)
def test_numbers_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        NgramRule(**wrong)  # type: ignore[arg-type]


def test_a_vocabulary_keeps_its_rule_and_one_without_is_written_as_before() -> None:
    rule = NgramRule(50, 2, 4, 2)
    plain, spelled = (Vocabulary.build({"Dog": 2, "cat": 1}, ngrams=ngrams) for ngrams in (None, rule))
    assert "ngrams" not in json.loads(plain.to_json())
    again = Vocabulary.from_json(spelled.to_json())
    assert again == spelled
    assert again != plain
    assert again.ngram_rows == 50
    assert np.array_equal(again.rows_of_ngrams("DOG"), rule.rows_of("dog"))
    assert plain.rows_of_ngrams("dog").tolist() == []


def test_known_words_may_have_none() -> None:
    rule = NgramRule(50, unknown_alone=True)
    made = Vocabulary.build({"Frog": 2}, baseforms={"frogs": "frog"}, oov="nearest", ngrams=rule)
    again = Vocabulary.from_json(made.to_json())
    assert again == made
    assert not any(again.rows_of_ngrams(word).tolist() for word in ("frog", "FROG", "frogs", "frgo"))
    assert again.without_ngrams(["frog", "frgo", "Cat"]) == ("frog", "frgo", MASK)
    assert Vocabulary.build({"Frog": 2}, ngrams=NgramRule(50)).without_ngrams(["Cat"]) == ("Cat",)
    assert np.array_equal(again.rows_of_ngrams("Cat"), rule.rows_of("cat"))
    with pytest.raises(UsageError, match="unknown_alone"):
        NgramRule(unknown_alone=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [[], {}, {"rows": 5}, {"rows": -1}, {"rows": "5"}, {"more": 1}])
def test_a_damaged_rule_is_refused(wrong: object) -> None:
    content = json.loads(Vocabulary.build({"a": 1}, ngrams=NgramRule(50)).to_json())
    content["ngrams"] = (
        {**content["ngrams"], **wrong, "longest": 99} if isinstance(wrong, dict) and wrong else wrong
    )
    with pytest.raises(ArtifactError):
        Vocabulary.from_json(json.dumps(content))


def test_a_word_without_end_costs_no_more_than_a_long_one() -> None:
    rule, word = NgramRule(cased=True), "aB" * 500_000
    np.testing.assert_array_equal(rule.rows_of(word), rule.rows_of(word[:LONGEST_WORD]))
    assert len(rule.rows_of(word)) < 3 * LONGEST_WORD + 10
    assert sum(map(len, rule._known)) == LONGEST_WORD  # nor is the whole word remembered
