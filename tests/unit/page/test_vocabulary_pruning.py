"""Files for JavaScript keep a row for the commonest words and those of training; others are read as one of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.models import ModelConfig
from heedful.page.vocabulary_pruning import with_fewer_words
from heedful.runtime.encoder_states import EncoderStates, content_of_encoder
from heedful.runtime.loading import encoder_of_content
from heedful.runtime.pair_features import ExampleFeatures, Pairing
from heedful.runtime.sentence_features import JoinedFeatures, MeanOfVectors, SentenceFeatures
from heedful.runtime.sentence_part import SentencePart
from heedful.storage.shared_rows import SharedRows
from heedful.tasks import TextSettings, build_network
from heedful.tasks.vectors import VectorModel
from heedful.text.unknown_words import NgramRule
from heedful.text.vocabulary import Vocabulary

WORDS = ("the", "film", "good", "bad", "plot", "superb", "dire", "zebra", "quagga")
LIKE = {"superb": "good", "dire": "bad", "quagga": "zebra"}


def vectors() -> MeanOfVectors:
    words = (*WORDS, "Film", "alone")
    codes = np.random.default_rng(0).integers(-100, 100, (len(words), 300)).astype(np.int8)
    for word, like in LIKE.items():
        codes[words.index(word)] = codes[words.index(like)] // 2
    rows = SharedRows(words, codes, np.full(len(words), 0.01, np.float32))
    return MeanOfVectors(rows, "films\tfilm\nzebras\tzebra\ndirer\tdire\n")


def states(path: Path) -> EncoderStates:
    torch.manual_seed(1)
    config = ModelConfig(task="vector", width=10, outputs=4, dropout=0.0)
    network = build_network(config, torch.randn(len(WORDS) + 2, 10), ngrams=torch.randn(30, 10))
    rule = NgramRule(rows=30, unknown_alone=True)
    vocabulary = Vocabulary(WORDS, baseforms={"films": "film", "direr": "dire"}, oov="nearest", ngrams=rule)
    VectorModel(network, config, vocabulary, (), TextSettings()).save(path)
    content = content_of_encoder(path)
    return EncoderStates("", "", encoder_of_content(content), content)


def part(path: Path, pairing: Pairing = "none", only: str = "") -> SentencePart:
    parts: tuple[SentenceFeatures, ...] = (states(path), vectors())
    kept = {"states": parts[:1], "mean": parts[1:]}.get(only, parts)
    features = ExampleFeatures(JoinedFeatures(kept), pairing)
    return SentencePart(features, np.ones((features.width, 2), np.float32), np.zeros(2, np.float32))


def read(found: SentencePart) -> tuple[EncoderStates, MeanOfVectors]:
    """Return the features as a file keeps them."""
    encoder, means = found.kinds
    assert isinstance(encoder, EncoderStates)
    assert isinstance(means, MeanOfVectors)
    return replace(encoder, model=encoder_of_content(encoder.content)), means


def test_words_with_a_row_are_read_as_before_and_others_as_one_like_them(tmp_path: Path) -> None:
    whole = part(tmp_path)
    encoder, means = read(with_fewer_words(whole, ["zebras", "Plot", "unheard"], most=6))
    assert encoder.model.reading.vocabulary.trainable == ("the", "film", "good", "bad", "plot", "zebra")
    assert means.rows.words == ("the", "film", "good", "bad", "plot", "zebra", "Film")
    same = [["the", "film", "good"], ["Film", "films", "zebra"], [], ["plot", "bad"], ["unheard", "the"]]
    after: tuple[SentenceFeatures, ...] = (encoder, means)
    for features, before in zip(after, whole.kinds, strict=True):
        assert np.array_equal(features.of(same), before.of(same))
        for word, like in LIKE.items():
            assert features.knows(word)
            assert np.array_equal(features.of([["the", word]]), features.of([["the", like]]))
        assert not features.knows("direr")  # its base form has no row either
        assert features.knows("films")


@pytest.mark.parametrize(("pairing", "rows"), [("none", 1), ("ordered", 30)])
def test_ngrams_stay_where_they_are_read(pairing: Pairing, rows: int, tmp_path: Path) -> None:
    encoder, _ = read(with_fewer_words(part(tmp_path, pairing), [], most=6))
    kept = json.loads(encoder.content["vocabulary"].tobytes())
    assert kept["ngrams"]["rows"] == rows
    (table,) = (each for name, each in encoder.content.items() if name.endswith("ngrams.weight"))
    assert len(table) == rows


def test_what_reads_no_encoder_or_one_of_few_words_stays(tmp_path: Path) -> None:
    whole, means = part(tmp_path / "a"), part(tmp_path / "b", only="mean")
    assert with_fewer_words(whole, [], most=len(WORDS)) is whole
    assert with_fewer_words(means, [], most=3) is means
    alone = with_fewer_words(part(tmp_path / "c", only="states"), [], most=3)
    (encoder,) = alone.kinds
    assert isinstance(encoder, EncoderStates)
    vocabulary = json.loads(encoder.content["vocabulary"].tobytes())
    assert vocabulary["trainable"] == list(WORDS[:3])
    assert vocabulary["baseforms"] == {"films": "film"}
