"""Decomposable attention from strings: trained, saved, read back, explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.errors import UsageError
from heedful.estimators import PairClassifier, from_pretrained
from heedful.run.recipe_files import load_config

PAIRS = [
    ("A dog sleeps on the mat .", "An animal rests ."),
    ("A dog sleeps on the mat .", "The dog runs ."),
    ("Two birds fly over a lake .", "Birds are in the air ."),
    ("Two birds fly over a lake .", "The birds swim ."),
]
LABELS = ["yes", "no", "yes", "no"]


@pytest.fixture(scope="module")
def classifier() -> PairClassifier:
    estimator = PairClassifier(
        model__encoder="decomposable",
        model__encoder_options={"intra": True, "projected": 6, "deviation": 0.3},
        model__width=8,
        model__hidden=5,
        model__activation="relu",
        model__train_embedding=False,
        text__oov="hash",
        text__unit_norm=True,
        text__min_count=2,
        train__epochs=2,
        train__optimizer__name="adagrad",
        train__optimizer__lr=0.05,
    )
    torch.manual_seed(0)
    return estimator.fit(PAIRS, LABELS, dev=(PAIRS, LABELS))


def test_word_vectors_stay_and_the_projection_moves(classifier: PairClassifier) -> None:
    network = classifier.predictor.network
    assert not any("embedding" in name for name, _ in network.named_parameters())
    assert classifier.result_ is not None
    assert classifier.result_.parameters == sum(p.numel() for p in network.parameters())


def test_a_saved_model_answers_the_same(classifier: PairClassifier, tmp_path: Path) -> None:
    classifier.save_pretrained(tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model")
    assert isinstance(loaded, PairClassifier)
    np.testing.assert_array_equal(loaded.predict_proba(PAIRS), classifier.predict_proba(PAIRS))


def test_an_explanation_shows_both_alignments_and_null(classifier: PairClassifier) -> None:
    shown = classifier.explain(PAIRS[0])
    assert [side.words[:2] for side in shown.sides] == [("NULL", "A"), ("NULL", "An")]
    assert [side.in_text[:2] for side in shown.sides] == [(False, True)] * 2
    assert set(shown.alignments) == {"first to second", "second to first"}
    np.testing.assert_allclose(shown.alignments["first to second"].sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(shown.alignments["second to first"].sum(axis=0), 1, atol=1e-6)
    assert [set(side.maps) for side in shown.sides] == [{"intra-sentence"}] * 2
    assert "first to second" in shown.to_text(attention=True)


def test_the_card_says_what_becomes_of_unknown_words_and_of_no_words(classifier: PairClassifier) -> None:
    card = classifier.predictor.about.card
    assert "An unknown word has one of 100 fixed random vectors, chosen by its spelling" in card
    assert "a text without words is read as NULL alone" in card
    assert "zero vector" not in card


def test_a_text_alone_has_no_vector(classifier: PairClassifier) -> None:
    with pytest.raises(UsageError, match="no vector of one text alone"):
        classifier.encode(["A dog sleeps ."])


def test_the_recipe_is_the_published_setting() -> None:
    recipe = load_config("decomposable-snli")
    assert recipe.model.encoder == "decomposable"
    assert not recipe.model.train_embedding
    assert (recipe.model.hidden, recipe.model.dropout, recipe.model.activation) == (200, 0.2, "relu")
    assert (recipe.train.optimizer.name, recipe.train.optimizer.lr) == ("adagrad", 0.05)
    assert recipe.text.oov == "hash"
    assert recipe.text.unit_norm
