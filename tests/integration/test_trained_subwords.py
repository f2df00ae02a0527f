"""Words with n-grams: trained, saved, loaded, and the same in any batch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful import PairClassifier, TextClassifier, from_pretrained
from heedful.data.batching import collate
from heedful.errors import ArtifactError, UsageError
from heedful.nn import WordEmbedding
from heedful.run.run import count_parameters
from heedful.storage.model_folder import MODEL_FILES, write_json, write_manifest
from heedful.structures import Sentences, Spellings
from tiny import pairs, texts

SMALL = {
    "model__width": 16,
    "model__hidden": 16,
    "train__epochs": 4,
    "train__optimizer__lr": 0.02,
    "text__subwords": 500,
}
ROWS = texts()[:120]
TYPOS = ["The flim was lovley .", "I found this sotry dreray .", "zzz qqq", "The film was lovely ."]


@pytest.fixture(scope="module")
def model() -> TextClassifier:
    return TextClassifier(**SMALL).fit([text for text, _ in ROWS], [label for _, label in ROWS])


def vectors_of(model: TextClassifier, words: list[str]) -> torch.Tensor:
    predictor = model.predictor
    dataset, _ = predictor.encode_examples(predictor.read([" ".join(words)]).examples)
    with torch.no_grad():
        return predictor.network.sentence_encoder.embedding.embed(
            collate(dataset, np.array([0])).sides[0]
        ).tokens[0]


def test_no_word_is_the_zero_vector_and_each_has_its_own(model: TextClassifier) -> None:
    vectors = vectors_of(model, ["film", "flim", "xyzzy", "q"])
    assert (vectors.norm(dim=1) > 0).all()
    assert len({tuple(row.tolist()) for row in vectors}) == 4
    answer = model.answer(["flim"])[0]
    assert answer.unknown == 1, "a word with n-grams alone is still one that training lacked"


def test_a_text_does_not_depend_on_its_batch(model: TextClassifier) -> None:
    alone = np.concatenate([model.predict_proba([text]) for text in TYPOS])
    together = model.predict_proba(
        [*TYPOS, "a much longer text than any other of this batch , with more words ."]
    )
    np.testing.assert_allclose(together[:4], alone, atol=2e-6)
    assert not np.allclose(alone[0], alone[2])


def test_a_saved_model_gives_the_same(model: TextClassifier, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path / "m")
    assert np.array_equal(from_pretrained(tmp_path / "m").predict_proba(TYPOS), model.predict_proba(TYPOS))
    vocabulary = json.loads((tmp_path / "m" / "vocabulary.json").read_text())
    for rows in (499, 2**24, -1):
        vocabulary["ngrams"]["rows"] = rows
        write_json(tmp_path / "m" / "vocabulary.json", vocabulary)
        write_manifest(tmp_path / "m", MODEL_FILES)
        with pytest.raises(ArtifactError):
            from_pretrained(tmp_path / "m")


def test_pairs_share_their_texts(tmp_path: Path) -> None:
    rows = pairs()[:150]
    sides = [(first, second) for first, second, _ in rows]
    model = PairClassifier(**SMALL).fit(sides, [label for *_, label in rows])
    asked = [
        ("A dgo runs .", "The dog runs ."),
        ("A dgo runs .", "The god runs ."),
        ("A dog runs .", "The dog runs ."),
    ]
    alone = np.concatenate([model.predict_proba([pair]) for pair in asked])
    np.testing.assert_allclose(model.predict_proba(asked), alone, atol=2e-6)
    assert not np.allclose(alone[0], alone[1])


def test_both_tables_learn_and_neither_counts_as_a_parameter() -> None:
    torch.manual_seed(0)
    embedding = WordEmbedding(torch.zeros(5, 3), ngrams=torch.zeros(9, 3), row_dropout=0.0)
    ids = torch.tensor([[2, 1, 0]])
    spellings = Spellings(torch.tensor([[0, 1, 2]]), torch.tensor([3, 4, 4, 8]), torch.tensor([0, 3, 4, 4]))
    sentences = Sentences(ids, ids > 0, spellings=spellings)
    tokens = embedding.embed(sentences).tokens
    (tokens * torch.tensor([[1.0], [2.0], [5.0]])).sum().backward()
    assert embedding.ngrams is not None
    weight = embedding.ngrams.weight
    assert weight.grad is not None
    assert weight.grad.is_sparse
    np.testing.assert_allclose(weight.grad.to_dense()[:, 0], [0, 0, 0, 1 / 3, 2 / 3, 0, 0, 0, 2], rtol=1e-6)
    assert embedding.weight.grad is not None
    assert embedding.weight.grad.to_dense()[:, 0].tolist() == [0, 0, 1, 0, 0]
    assert count_parameters(torch.nn.Sequential(embedding)) == 0
    with pytest.raises(UsageError, match="n-grams"):
        embedding.embed(replace(sentences, spellings=None))
    with pytest.raises(UsageError, match="width of trained"):
        WordEmbedding(torch.zeros(5, 3), ngrams=torch.zeros(9, 4))


def test_left_out_rows_leave_the_ngrams() -> None:
    torch.manual_seed(0)
    embedding = WordEmbedding(torch.ones(5, 3), ngrams=torch.full((2, 3), 7.0), row_dropout=0.5)
    ids = torch.full((1, 200), 2)
    spellings = Spellings(torch.zeros_like(ids), torch.tensor([1]), torch.tensor([0, 1, 1]))
    sentences = Sentences(ids, ids > 0, spellings=spellings)
    seen = embedding.train().embed(sentences).tokens
    assert set(seen[0, :, 0].tolist()) == {7.0, 8.0}
    assert (seen == seen[..., :1]).all(), "a whole row is left out"
    assert (embedding.eval().embed(sentences).tokens == 8).all()


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_lower_precisions_read_ngrams_too(model: TextClassifier, precision: str) -> None:
    from heedful.models.precision import at_precision

    predictor = model.predictor
    copy = type(predictor)(
        at_precision(predictor.network, precision),  # type: ignore[arg-type]
        predictor.model,
        predictor.vocabulary,
        predictor.labels,
        predictor.text,
        predictor.about,
    )
    found = copy.probabilities(copy.logits(TYPOS))
    np.testing.assert_allclose(found, model.predict_proba(TYPOS), atol=0.1)
