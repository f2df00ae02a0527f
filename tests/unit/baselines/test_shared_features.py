"""Baselines that read the same texts share their rows, and get what each would have read by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from heedful.baselines import shared_features
from heedful.baselines import splits as splits_of
from heedful.baselines.linear import (
    NB_SVM,
    TFIDF_LOGISTIC,
    Sides,
    character_tfidf,
    word_presence,
    word_tfidf,
)
from heedful.baselines.rivals import WORDS_AND_CHARACTERS, rivals
from heedful.baselines.shared_features import FeatureCache, ReadOnce, RunsTfidf
from heedful.baselines.splits import Split, Splits

ONE = [("a fine film",), ("a a dull film !",), ("",), ("what a film",)]
PAIRS = [("a fine film", "a film"), ("dull", "a dull film"), ("", "so it is")]


@pytest.mark.parametrize("texts", [ONE, PAIRS], ids=["texts", "pairs"])
@pytest.mark.parametrize(
    ("make", "plain", "presence"),
    [(word_tfidf, word_tfidf, False), (word_tfidf, word_presence, True), (character_tfidf,) * 2 + (False,)],
)
def test_shared_rows_are_those_of_a_vectorizer_of_its_own(
    texts: Any, make: Any, plain: Any, presence: bool
) -> None:
    shelf = FeatureCache(make)
    for shared in (Sides(ReadOnce(shelf, presence)), Sides(ReadOnce(shelf, presence))):
        own = Sides(plain())
        assert np.array_equal(shared.fit_transform(texts).toarray(), own.fit_transform(texts).toarray())
        assert np.array_equal(shared.transform(texts[:2]).toarray(), own.transform(texts[:2]).toarray())
        assert shared.bytes == own.bytes


@pytest.mark.parametrize("sublinear", [True, False])
def test_runs_of_distinct_words_give_the_rows_of_all_words(
    sublinear: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["A fine  film , fine", "Σας ΟΔΟΣ\u00a0fine", "", "東京に行く\tfilm"]
    settings: Any = {"analyzer": "char_wb", "ngram_range": (2, 5), "dtype": np.float32}
    plain = TfidfVectorizer(**settings, sublinear_tf=sublinear)
    wanted = plain.fit_transform(texts).toarray(), plain.transform([*texts, "neu neu"]).toarray()
    read = list[str]()
    of_word = CountVectorizer._char_wb_ngrams
    monkeypatch.setattr(
        CountVectorizer, "_char_wb_ngrams", lambda self, text: read.append(text) or of_word(self, text)
    )
    runs = RunsTfidf(**settings, sublinear_tf=sublinear)
    assert np.array_equal(runs.fit_transform(texts).toarray(), wanted[0])
    assert len(read) == len(set(read)), "each word is read once"
    assert np.array_equal(runs.transform([*texts, "neu neu"]).toarray(), wanted[1])
    assert not runs.transform([""]).nnz
    assert runs.vocabulary_ == plain.vocabulary_


class Counting(TfidfVectorizer):
    fits = 0

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        Counting.fits += 1
        return super().fit_transform(raw_documents, y)


def test_the_same_texts_are_read_once_and_others_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counting, "fits", 0)
    shelf = FeatureCache(Counting)
    first, second, third = (Sides(ReadOnce(shelf)) for _ in range(3))
    rows = first.fit_transform(ONE)
    again = second.fit_transform(list(ONE))
    assert np.shares_memory(again.data, rows.data), "estimators change no rows, so nobody copies them"
    assert Counting.fits == 1
    third.fit(ONE[:2])
    assert Counting.fits == 2
    assert first.transform(ONE).shape != third.transform(ONE).shape


def test_rows_of_very_many_texts_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_features, "MOST_TEXTS", 3)
    shelf = FeatureCache(word_tfidf)
    vectorizer, _ = shelf.fit([text for (text,) in ONE])
    for few in ONE, ONE[:2]:  # a vectorizer that is not kept is not held by what it read
        shelf.rows(vectorizer, [text for (text,) in few])
    assert shelf.fitted == shelf.read == []


def test_rivals_find_what_each_finds_alone() -> None:
    texts = [(f"{word} film number {k % 7}",) for k, word in enumerate(["fine", "dull", "good", "bad"] * 6)]
    gold = np.array([0, 1] * 12)
    splits = Splits("text", ("neg", "pos"), Split(texts, gold), None, None, "invented")  # type: ignore[arg-type]
    alone = [TFIDF_LOGISTIC, NB_SVM, WORDS_AND_CHARACTERS]
    for shared, own in zip(rivals("text", texts)[:3], alone, strict=True):
        one, other = shared.train(splits), own.train(splits)
        assert shared.name == own.name
        assert one.strength == other.strength
        assert np.array_equal(one.outputs(texts[:5]), other.outputs(texts[:5]))


def test_examples_have_the_same_folds_for_all_baselines(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [(f"{word} film number {k % 7}",) for k, word in enumerate(["fine", "dull", "good", "bad"] * 6)]
    splits = Splits("text", ("neg", "pos"), Split(texts, np.array([0, 1] * 12)), None, None, "invented")  # type: ignore[arg-type]
    dealt = []
    deal = splits_of.cross_folds
    monkeypatch.setattr(splits_of, "cross_folds", lambda *given: (dealt.append(1), deal(*given))[1])
    TFIDF_LOGISTIC.train(splits)
    NB_SVM.train(splits)
    assert dealt == [1]
