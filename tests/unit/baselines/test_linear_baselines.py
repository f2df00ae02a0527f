"""The linear baselines: their features and classifiers against plain arithmetic, and what dev chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

import tiny
from heedful.baselines.linear import (
    CHARACTER_SVM,
    CHOOSING,
    NB_SVM,
    NBSVM,
    TFIDF_LOGISTIC,
    TFIDF_RIDGE,
    LinearBaseline,
    Sides,
    character_tfidf,
    compared,
    trained,
    word_presence,
    word_tfidf,
)
from heedful.baselines.mean_vectors import CosineBaseline, MeanVectors
from heedful.baselines.rivals import WORDS_AND_CHARACTERS, SideBySideRows, logistic, rivals
from heedful.baselines.splits import Split, Splits
from heedful.text.vectors import WordVectors

ROWS = tiny.texts()
TEXTS = [(text,) for text, _ in ROWS]
GOLD = np.array([int(label == "pos") for _, label in ROWS])
PAIRS = [((first, second), label) for first, second, label in tiny.pairs()]


def texts(train: int = 120) -> Splits:
    parts = (slice(0, train), slice(120, 160), slice(160, 240))
    return Splits("text", ("neg", "pos"), *(Split(TEXTS[part], GOLD[part]) for part in parts), "invented")


def pairs() -> Splits:
    parts = (slice(0, 150), slice(150, 190), slice(190, None))
    gold = np.array([int(label == "same") for _, label in PAIRS])
    both = [pair for pair, _ in PAIRS]
    return Splits("pair", ("other", "same"), *(Split(both[part], gold[part]) for part in parts), "invented")


@pytest.mark.parametrize("vectorizer", [word_tfidf(), word_presence()], ids=["tfidf", "presence"])
def test_characters_are_words_where_no_spaces_are_written(vectorizer: CountVectorizer) -> None:
    vectorizer.fit(["今天很好 abc_d! Việt 한국"])
    words = ["今", "天", "很", "好", "abc_d", "!", "việt", "한국"]
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    assert sorted(vectorizer.vocabulary_) == sorted(words + pairs)


@pytest.mark.parametrize("baseline", [TFIDF_LOGISTIC, CHARACTER_SVM, NB_SVM], ids=lambda each: each.name)
@pytest.mark.parametrize("splits", [texts(), pairs()], ids=["texts", "pairs"])
def test_a_baseline_learns(baseline: LinearBaseline, splits: Splits) -> None:
    assert splits.test is not None
    model = baseline.train(splits)
    outputs = model.outputs(splits.test.texts)
    assert outputs.shape == (len(splits.test), 2)
    right = np.mean(outputs.argmax(axis=1) == splits.test.gold)
    assert right > (0.95 if splits.task == "text" else 0.6)
    assert model.strength in baseline.grid
    assert 0 < model.megabytes < 1


def test_the_test_split_decides_nothing() -> None:
    splits = texts()
    assert splits.test is not None
    turned = replace(splits, test=Split(splits.test.texts, 1 - splits.test.gold))
    one, other = TFIDF_LOGISTIC.train(splits), TFIDF_LOGISTIC.train(turned)
    assert one.strength == other.strength
    np.testing.assert_array_equal(one.estimator.coef_, other.estimator.coef_)


def test_dev_chooses_and_of_equals_the_more_regularized() -> None:
    splits = texts()
    grid = (1e-6, 3.0, 10.0)
    assert replace(TFIDF_LOGISTIC, grid=grid).train(splits).strength == 3.0
    contrary = replace(splits, dev=Split(splits.dev.texts, 1 - splits.dev.gold))
    assert replace(TFIDF_LOGISTIC, grid=grid).train(contrary).strength == 1e-6


def test_of_many_examples_some_choose_and_all_train(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CHOOSING >= 3_000
    monkeypatch.setattr("heedful.baselines.linear.CHOOSING", 40)
    model = TFIDF_LOGISTIC.train(texts())
    whole = replace(TFIDF_LOGISTIC, grid=(model.strength,))
    monkeypatch.undo()
    np.testing.assert_array_equal(model.estimator.coef_, whole.train(texts()).estimator.coef_)


def test_a_class_without_training_examples_is_never_predicted() -> None:
    splits = replace(texts(), labels=("neg", "pos", "odd"))
    outputs = TFIDF_LOGISTIC.train(splits).outputs([("a film",), ("",)])
    assert outputs.shape == (2, 3)
    assert set(outputs.argmax(axis=1)) <= {0, 1}


def test_nb_svm_is_the_svm_and_naive_bayes_at_its_ends() -> None:
    splits = texts()
    features = Sides(word_presence())
    x, held = (
        features.fit(splits.train.texts).transform(splits.train.texts),
        features.transform(splits.dev.texts),
    )
    inside = splits.train.gold == 1
    p, q = (np.asarray(x[rows].sum(axis=0)).ravel() + 1 for rows in (inside, ~inside))
    ratio = np.log(p / p.sum()) - np.log(q / q.sum())
    svm = LinearSVC(C=0.3, random_state=0, max_iter=5_000).fit(x.multiply(ratio).tocsr(), inside)
    margins = NBSVM(C=0.3, beta=1).fit(x, splits.train.gold).decision_function(held)
    np.testing.assert_allclose(margins, svm.decision_function(held.multiply(ratio).tocsr()), rtol=1e-6)
    bayes = MultinomialNB(alpha=1).fit(x, splits.train.gold).predict_log_proba(held)
    own = NBSVM(C=0.3, beta=0).fit(x, splits.train.gold).decision_function(held)
    log_odds = bayes[:, 1] - bayes[:, 0]
    np.testing.assert_allclose(own / own[0], log_odds / log_odds[0], rtol=1e-5)


def test_nb_svm_of_three_classes_is_one_against_the_rest() -> None:
    splits = texts()
    gold = np.where(np.arange(120) % 3 == 0, 2, splits.train.gold)
    x = Sides(word_presence()).fit(splits.train.texts).transform(splits.train.texts)
    three, one = NBSVM().fit(x, gold), NBSVM().fit(x, gold == 2)
    np.testing.assert_allclose(three.decision_function(x)[:, 2], one.decision_function(x), rtol=1e-9)
    assert set(three.predict(x)) == {0, 1, 2}


def test_a_pair_is_both_rows_their_difference_and_their_product() -> None:
    features = Sides(word_tfidf()).fit([("a b", "b c"), ("c d", "a")])
    u, v = (features.transform([(text,)]) for text in ("a b", "b c"))
    row = features.transform([("a b", "b c")]).toarray()
    expected = np.concatenate(
        [u.toarray(), v.toarray(), abs(u.toarray() - v.toarray()), u.toarray() * v.toarray()], axis=1
    )
    np.testing.assert_allclose(row, expected, rtol=1e-6)
    np.testing.assert_allclose(compared(u, v).toarray(), expected, rtol=1e-6)


VECTORS = WordVectors(("good", "bad", "film"), np.array([[1, 0], [-1, 0], [0, 2]], np.float32))


def test_mean_vectors_are_the_mean_of_known_words_and_base_forms() -> None:
    features = MeanVectors(VECTORS, {"films": "film"}, "whitespace").fit([])
    rows = features.transform([("Good films",), ("unknown",), ("",)])
    np.testing.assert_allclose(rows, [[0.5, 1], [0, 0], [0, 0]])
    pair = features.transform([("good", "film")])
    np.testing.assert_allclose(pair, [[1, 0, 0, 2, 1, 2, 0, 0]])


def test_scores_are_ridge_or_cosine() -> None:
    both = [pair for pair, _ in PAIRS]
    gold = np.array([4.5 if label == "same" else 1.5 for _, label in PAIRS])
    splits = Splits(
        "score", (), *(Split(both[a:b], gold[a:b]) for a, b in ((0, 150), (150, 190), (190, 400))), ""
    )
    ridge = TFIDF_RIDGE.train(splits).outputs(splits.dev.texts)
    assert np.corrcoef(ridge, splits.dev.gold)[0, 1] > 0.3
    cosine = CosineBaseline("cosine", lambda: MeanVectors(VECTORS, {}, "whitespace")).train(splits)
    np.testing.assert_allclose(
        cosine.outputs([("good", "good film"), ("good", "bad"), ("good", "")]), [0.4472136, -1, 0]
    )


def test_limited_splits_are_drawn_from_training_alone() -> None:
    splits = texts()
    some, again = splits.limited(30, seed=1), splits.limited(30, seed=1)
    assert len(some.train) == 30
    assert some.trains_like(again)
    assert not some.trains_like(splits.limited(30, seed=2))
    assert (some.dev, some.test) == (splits.dev, splits.test)
    assert splits.limited(0, seed=1) is splits


def test_logistic_regression_gives_its_own_margins() -> None:
    splits = texts()
    model = TFIDF_LOGISTIC.train(splits)
    assert isinstance(model.estimator, LogisticRegression)
    outputs = model.outputs(splits.dev.texts)
    probabilities = model.estimator.predict_proba(model.features.transform(splits.dev.texts))
    np.testing.assert_allclose(
        1 / (1 + np.exp(outputs[:, 0] - outputs[:, 1])), probabilities[:, 1], rtol=1e-6
    )


@pytest.mark.parametrize("make", [word_presence, word_tfidf, character_tfidf])
def test_rows_of_training_texts_are_those_that_are_made_later(make: Callable[[], CountVectorizer]) -> None:
    singles = [("a b c b",), ("c d",), ("",), ("b a",)]
    for texts in (singles, [("a b", "b c"), ("c d", "a"), ("", "b b")]):
        joined, once = SideBySideRows([Sides(make()), Sides(make())]), Sides(make())
        both = joined.fit_transform(texts), once.fit_transform(texts)
        assert np.array_equal(both[0].toarray(), joined.transform(texts).toarray())
        assert np.array_equal(both[1].toarray(), once.transform(texts).toarray())
        assert both[1].has_sorted_indices
        assert np.array_equal(both[1].toarray(), Sides(make()).fit(texts).transform(texts).toarray())


def test_rows_are_not_copied_for_the_support_vector_machine() -> None:
    texts = [("a b c b",), ("c d",), ("b a",)]
    named = {each.name: each.features for each in rivals("text", texts) if isinstance(each, LinearBaseline)}
    both = named[WORDS_AND_CHARACTERS.name]().fit_transform(texts)
    assert both.dtype == np.float64, "which is what the solver takes"
    words, present = (
        named[TFIDF_LOGISTIC.name]().fit_transform(texts),
        named[NB_SVM.name]().fit_transform(texts),
    )
    assert np.shares_memory(words.indices, present.indices)
    assert set(present.data) == {1.0}
    assert set(words.data) != {1.0}


def test_logistic_regression_of_many_classes_is_trained_to_its_end() -> None:
    dice = np.random.default_rng(0)
    centers = dice.normal(size=(150, 40))
    gold = np.repeat(np.arange(150), 6)
    rows = centers[gold] + 0.3 * dice.normal(size=(900, 40))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    model = logistic(10.0).fit(rows, gold)
    assert (model.predict(rows) == gold).mean() > 0.95, (
        "a mean gradient of many classes is small from the start"
    )


@pytest.mark.parametrize(
    "baseline", [TFIDF_LOGISTIC, CHARACTER_SVM, NB_SVM, TFIDF_RIDGE], ids=lambda each: each.name
)
def test_a_weight_of_2_is_the_row_twice(baseline: LinearBaseline) -> None:
    """The solvers stop within a tolerance, so the fits differ by as much."""
    times = np.arange(120) % 3 + 1
    places = np.repeat(np.arange(120), times)
    rows = baseline.features().fit_transform(TEXTS[:120])
    weighted = baseline.estimator(1.0).fit(rows, GOLD[:120], times.astype(float))
    repeated = baseline.estimator(1.0).fit(rows[places], GOLD[:120][places])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-3)
    once = baseline.estimator(1.0).fit(rows, GOLD[:120])
    assert np.abs(once.coef_ - repeated.coef_).max() > 0.01


def test_a_common_factor_of_the_weights_changes_nothing() -> None:
    rows, weights = TFIDF_LOGISTIC.features().fit_transform(TEXTS[:120]), np.arange(1.0, 121)
    one, other = (
        trained(TFIDF_LOGISTIC.estimator(1.0), rows, GOLD[:120], each) for each in (weights, weights * 2**60)
    )
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("folds", [False, True])
def test_the_weighted_figure_chooses_the_strength(folds: bool) -> None:
    """Of equals the more regularized; a fifth of the gold is turned around, so that strengths differ."""
    draw = np.random.default_rng(5)
    splits = texts()
    assert splits.dev is not None
    train, dev = (
        replace(each, gold=np.where(draw.random(len(each)) < 0.2, 1 - each.gold, each.gold))
        for each in (splits.train, splits.dev)
    )
    grid = (0.01, 0.1, 1.0, 100.0)
    baseline, chosen = replace(TFIDF_LOGISTIC, grid=grid), set()
    for _ in range(6):
        weights = draw.random(len(train if folds else dev)) ** 8
        given = (
            replace(splits, train=replace(train, weights=weights), dev=None)
            if folds
            else replace(splits, train=train, dev=replace(dev, weights=weights))
        )
        figures = []
        for strength in grid:
            held = replace(baseline, grid=(strength,)).train(given).held
            assert held is not None
            figures.append(np.average(held.argmax(axis=1) == given.choosing.gold, weights=weights))
        model = baseline.train(given)
        assert model.strength == grid[int(np.argmax(figures))]
        chosen.add(model.strength)
    assert len(chosen) > 1
