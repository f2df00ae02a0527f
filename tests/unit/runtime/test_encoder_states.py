"""A sentence part over the states of a sentence encoder, beside one over the mean of vectors, and in a folder."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.runtime import loading
from heedful.runtime.encoder_states import EncoderStates, content_of_encoder, has_sentence_encoder
from heedful.runtime.loading import packaged_states, read_states
from heedful.runtime.pair_features import ExampleFeatures
from heedful.runtime.sentence_features import JoinedFeatures, MeanOfVectors
from heedful.runtime.sentence_part import SentencePart, read_sentence_part
from heedful.storage.manifest import WEIGHTS
from heedful.storage.named_models import find_packaged
from heedful.storage.shared_rows import SharedRows

TEXTS = [[["good", "film"]], [["bad"]], [[]]]


def states(texts: list[list[str]]) -> np.ndarray:
    return np.array([[len(words), sum(map(len, words)), 1.0] for words in texts], np.float32).reshape(-1, 3)


ENCODER = EncoderStates("tiny", "0" * 64, SimpleNamespace(features=states, states_width=2, width=1))  # type: ignore[arg-type]
ROWS = SharedRows(("good", "bad"), np.int8([[3, 0], [0, 5]]), np.float32([0.1, 0.2]))


def part(texts: object, seed: int, weight: float) -> SentencePart:
    features = ExampleFeatures(texts)  # type: ignore[arg-type]
    draw = np.random.default_rng(seed)
    weights = draw.normal(size=(features.width, 2)).astype(np.float32)
    return SentencePart(features, weights, draw.normal(size=2).astype(np.float32), weight)


def test_two_parts_beside_each_other_add_what_both_add() -> None:
    one, other = part(MeanOfVectors(ROWS, ""), 0, 0.5), part(ENCODER, 1, 2.0)
    both = one.beside(other)
    np.testing.assert_allclose(
        both.of_words(TEXTS), one.of_words(TEXTS) + other.of_words(TEXTS), rtol=1e-5, atol=1e-6
    )
    assert isinstance(both.features.texts, JoinedFeatures)
    apart = both.apart()
    assert [type(each.features.texts) for each in apart] == [MeanOfVectors, EncoderStates]
    np.testing.assert_allclose(
        sum(each.of_words(TEXTS) for each in apart), both.of_words(TEXTS), rtol=1e-5, atol=1e-6
    )


def test_a_folder_names_the_encoder_and_refuses_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    both = part(MeanOfVectors(ROWS, ""), 0, 0.5).beside(part(ENCODER, 1, 2.0))
    monkeypatch.setattr(loading, "packaged_states", lambda name: ENCODER)
    tensors = both.tensors()
    again = read_sentence_part(both.table(), tensors.__getitem__, 2, 1, read_states)
    assert again.of_words(TEXTS).tolist() == both.of_words(TEXTS).tolist()
    other = EncoderStates("tiny", "1" * 64, ENCODER.model)
    monkeypatch.setattr(loading, "packaged_states", lambda name: other)
    with pytest.raises(UsageError, match="another version of tiny"):
        read_sentence_part(both.table(), tensors.__getitem__, 2, 1, read_states)


@pytest.mark.english
def test_a_complete_part_holds_the_encoder_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = packaged_states()
    some = SentencePart(
        ExampleFeatures(packaged), np.ones((packaged.width, 1), np.float32), np.zeros(1, np.float32)
    )
    complete = some.complete()
    monkeypatch.setattr(loading, "packaged_states", lambda name: pytest.fail("the package was asked"))
    tensors, table = complete.tensors(), complete.table()
    again = read_sentence_part(table, tensors.__getitem__, 1, 1, read_states)
    assert again.of_words(TEXTS).tolist() == some.of_words(TEXTS).tolist()
    assert again.complete().table() == table
    monkeypatch.setattr(loading, "find_packaged", lambda name: pytest.fail("the package was asked"))
    assert some.complete().table() == table, "it is the encoder that was read, whatever is installed by now"
    broken = {**tensors, "sentence.states.config": tensors["sentence.states.vocabulary"][:-1]}
    with pytest.raises(UsageError, match="config of the sentence encoder"):
        read_sentence_part(table, broken.__getitem__, 1, 1, read_states)


@pytest.mark.english
def test_copies_and_pickles_name_the_encoder_or_hold_it() -> None:
    """An estimator with a sentence encoder is copied and pickled by scikit-learn's users."""
    packaged = packaged_states()
    texts = [["good", "film"], []]
    for one in (packaged, packaged.complete()):
        for again in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert again.origin() == one.origin()
            assert again.of(texts).tolist() == packaged.of(texts).tolist()
    assert len(pickle.dumps(packaged)) < 1000, "what a package has is not in the pickle"


@pytest.mark.english
def test_an_encoder_that_was_replaced_since_it_was_read_is_not_kept(tmp_path: Path) -> None:
    packaged = packaged_states()
    for folder in (tmp_path, tmp_path / "gone"):
        (tmp_path / WEIGHTS).write_bytes(b"another")
        with pytest.raises(
            UsageError, match="en-sentences was removed or replaced while this process used it"
        ):
            replace(packaged, folder=folder).complete()


@pytest.mark.english
def test_features_are_the_states_and_the_vector_of_a_text() -> None:
    packaged, texts = packaged_states(), [["a", "man", "plays"], [], ["dull"]]
    rows = packaged.of(texts)
    assert rows.shape == (3, packaged.width)
    np.testing.assert_array_equal(rows[:, : packaged.model.states_width], packaged.model.states(texts))
    expected = packaged.model.encode(["a man plays", "", "dull"])
    np.testing.assert_allclose(rows[:, packaged.model.states_width :], expected, atol=1e-6)
    assert not rows[1].any()
    np.testing.assert_array_equal(packaged.of(texts[2:])[0], rows[2])


def test_an_encoder_that_is_not_installed_is_named_with_the_command() -> None:
    assert not has_sentence_encoder("no-such-encoder")
    with pytest.raises(UsageError, match="pip install"):
        packaged_states("no-such-encoder")


@pytest.mark.english
def test_a_model_of_another_kind_is_no_sentence_encoder() -> None:
    with pytest.raises(UsageError, match="no sentence encoder"):
        packaged_states("en-nli")


@pytest.mark.english
def test_a_kept_encoder_has_its_base_forms_in_plain_json() -> None:
    kept = content_of_encoder(find_packaged("en-sentences"))
    words = json.loads(kept["vocabulary"].tobytes())
    assert isinstance(words["baseforms"], dict)
    assert words["baseforms"]
