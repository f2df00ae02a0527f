from __future__ import annotations

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.explain import DeletionScore, deletion_score

WORDS = [["the", "film", "is", "not", "good"], ["bad", "film"]]
WEIGHTS = [[0.0, 0.1, 0.0, 0.5, 0.4], [0.9, 0.1]]


class Planted:
    """A classifier that only knows the word "bad", and remembers what it was asked."""

    def __init__(self):
        self.calls = []

    def __call__(self, examples):
        self.calls.append(examples)
        return [[0.1, 0.9] if any("bad" in side for side in example) else [0.8, 0.2] for example in examples]


def test_the_words_that_matter_cost_more_than_random_words():
    predict = Planted()
    score = deletion_score(predict, WORDS, WEIGHTS, k=2, draws=50)
    assert score is not None
    assert score.removed == ("bad", "not")
    assert score.before == 0.9
    assert score.after_top == 0.2
    assert score.before - score.after_top == pytest.approx(0.7)
    assert 0 < score.before - score.after_random < score.before - score.after_top
    assert len(predict.calls) == 1
    assert predict.calls[0][0] == (WORDS[0], WORDS[1])
    assert predict.calls[0][1] == (["the", "film", "is", "good"], ["film"])
    assert score.draws == len(score.random) == len(predict.calls[0]) - 2 == 20, (
        "all other pairs of seven words, once"
    )
    assert len({str(example) for example in predict.calls[0][1:]}) == 21, "no choice stands twice"
    assert score.spread == (0.2, 0.9)
    assert score.verdict == "within", "of the other choices some hold the one word that decides"


def score_of(after_top, others, k=3):
    return DeletionScore(k, len(others), 0, 0.9, after_top, float(np.mean(others)), ("a",) * k, tuple(others))


@pytest.mark.parametrize(
    ("after_top", "others", "verdict", "said"),
    [
        (0.73, [0.75, 0.80, 0.70, 0.85, 0.75], "within", "so this test shows nothing"),
        (0.73, [0.75, 0.80, 0.74, 0.85, 0.75], "more", "costs more than each of 5 other choices"),
        (0.737, [0.75, 0.80, 0.74, 0.85, 0.75], "within", "lies within the spread of 5"),
        (0.90, [0.75, 0.80, 0.74, 0.85, 0.75], "less", "does not single out what decides"),
        (0.10, [0.75, 0.80, 0.74, 0.85], "unknown", "too few other choices"),
    ],
)
def test_only_what_lies_outside_the_spread_is_claimed(after_top, others, verdict, said):
    score = score_of(after_top, others)
    assert score.verdict == verdict
    assert said in score.claim


def test_a_record_without_the_other_choices_claims_nothing():
    assert DeletionScore(3, 20, 0, 0.9, 0.1, 0.8, ("a", "b", "c")).verdict == "unknown"


def test_the_choice_that_is_tested_is_none_of_the_others():
    for words, k in (([list("abcdefgh")], 3), ([list("abcd")], 2), ([list("ab"), list("cdefghij")], 1)):
        predict = Planted()
        score = deletion_score(predict, words, [np.arange(len(side)) for side in words], k=k)
        tested, *others = predict.calls[0][1:]
        assert len(others) <= score.draws <= 20, "a choice that is drawn twice is predicted once"
        assert tested not in others


def test_random_words_are_distinct_seeded_and_of_the_same_number():
    asked = []
    for seed in (0, 0, 1):
        predict = Planted()
        deletion_score(predict, WORDS, WEIGHTS, k=3, draws=8, seed=seed)
        asked.append(predict.calls[0][2:])
    assert asked[0] == asked[1] != asked[2]
    assert all(sum(len(side) for side in example) == 4 for example in asked[0])


def test_a_tie_goes_to_the_earlier_word_and_one_word_always_stays():
    score = deletion_score(Planted(), [["a", "b", "c"]], [[0.3, 0.3, 0.3]], k=9, draws=1)
    assert score is not None
    assert score.k == 2
    assert score.removed == ("a", "b")


@pytest.mark.parametrize("words", [[[]], [["one"]], [["one"], []]])
def test_fewer_than_two_words_leave_nothing_to_compare(words):
    predict = Planted()
    assert deletion_score(predict, words, [np.ones(len(side)) for side in words]) is None
    assert not predict.calls


@pytest.mark.parametrize(
    ("weights", "more", "message"),
    [
        ([[1.0]], {}, "one number a word"),
        (WEIGHTS, {"k": 0}, "of 1 or more"),
        (WEIGHTS, {"draws": 0}, "of 1 or more"),
    ],
)
def test_wrong_arguments_are_refused(weights, more, message):
    with pytest.raises(UsageError, match=message):
        deletion_score(Planted(), WORDS, weights, **more)


def test_wrong_probabilities_are_refused():
    for answer in ([0.5], [[np.nan, 0.5]] * 22):
        with pytest.raises(UsageError, match="predict must return finite probabilities"):
            deletion_score(lambda examples, answer=answer: answer, WORDS, WEIGHTS)
