"""Words masked in training: a row of their own, in training alone, saved and loaded with the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful import TextClassifier, from_pretrained
from heedful.errors import UsageError
from heedful.explain import explainer
from heedful.explain.methods import MethodChoice
from heedful.runtime.loading import load
from heedful.text.vocabulary import MASK, Vocabulary
from heedful.text.wide_part import PhraseRule
from tiny import texts

SMALL = {"model__width": 16, "model__hidden": 16, "train__epochs": 4, "train__optimizer__lr": 0.02}
ROWS = texts()[:120]
TEXTS, LABELS = [text for text, _ in ROWS], [label for _, label in ROWS]


def fitted(**settings: object) -> TextClassifier:
    return TextClassifier(**{**SMALL, **settings}).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def model() -> TextClassifier:
    return fitted(train__word_mask=0.2, text__subwords=200)


def test_the_masked_word_has_a_trained_row_and_no_spelling(model: TextClassifier, tmp_path: Path) -> None:
    model.predictor.save(tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model")
    vocabulary = loaded.predictor.vocabulary
    assert isinstance(vocabulary, Vocabulary)
    assert vocabulary.mask_row == vocabulary.trainable_rows - 1
    assert not len(vocabulary.rows_of_ngrams(MASK))
    weight = loaded.predictor.network.sentence_encoder.embedding.weight
    start = fitted(train__word_mask=0.2, text__subwords=200, train__max_steps=1, train__optimizer__lr=1e-9)
    begun = start.predictor.network.sentence_encoder.embedding.weight
    assert not torch.allclose(weight[vocabulary.mask_row], begun[vocabulary.mask_row], atol=1e-3)
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS[:3]), model.predict_proba(TEXTS[:3]))


def test_a_prediction_masks_nothing(model: TextClassifier) -> None:
    first, second = (model.predict_proba(TEXTS[:8]) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_without_the_setting_nothing_is_drawn_and_no_row_is_added() -> None:
    plain = fitted().predictor
    assert isinstance(plain.vocabulary, Vocabulary)
    assert plain.vocabulary.mask_row is None


def test_a_pretrained_encoder_is_refused() -> None:
    from heedful.storage.hugging_face import PieceRules
    from heedful.tasks.words.lexicon import EncoderFiles, Pretrained

    rules = PieceRules("{}", unknown=0, start=1, end=2, limit=8)
    encoder = EncoderFiles(Path("encoder"), rules)
    with pytest.raises(UsageError, match=r"train\.word_mask"):
        Pretrained(encoder=encoder).vocabulary(None, {}, masked=True)  # type: ignore[arg-type]


def test_a_masked_word_is_part_of_no_feature_of_the_wide_part() -> None:
    rule = PhraseRule(words=2, shortest=2, longest=3)
    masked = rule.numbers(["Good", MASK, "film"])
    assert set(masked) == set(rule.numbers(["good"])) | set(rule.numbers(["film"]))
    assert {phrase.number for phrase in rule.phrases(["Good", MASK, "film"])} == set(masked)


def test_an_explanation_masks_what_it_takes_away_with_torch_and_without(
    model: TextClassifier, tmp_path: Path
) -> None:
    model.predictor.save(tmp_path / "model")
    own = model.predictor
    text = "The film was lovely and fine ."
    explanation = own.explain(text, method="occlusion")
    assert explanation.faithfulness is not None
    assert explanation.faithfulness.masked
    assert "asking th" in explanation.faithfulness.claim
    assert explanation.attribution is not None
    words = explanation.sides[0].words
    (values,) = explanation.attribution.values
    without = [" ".join(MASK if i == k else word for i, word in enumerate(words)) for k in range(len(words))]
    plain = own.reading_as(replace(own.text, tokenizer="whitespace"))
    column = int(np.argmax(explanation.probabilities))
    dataset, _ = plain.encode_examples(plain.read([" ".join(words), *without]).examples)
    logits = plain.run(dataset)[0].astype(np.float64) / own.about.temperature
    odds = logits[:, column] - logits[:, 1 - column]
    np.testing.assert_allclose(values, odds[0] - odds[1:], rtol=1e-5, atol=2e-6)
    apart = explainer.explain(load(tmp_path / "model"), text, MethodChoice("occlusion"))
    assert apart.attribution is not None
    np.testing.assert_allclose(apart.attribution.values[0], values, rtol=1e-5, atol=4e-6)
    assert apart.faithfulness is not None
    assert apart.faithfulness.masked
