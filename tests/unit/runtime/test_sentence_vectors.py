"""A sentence encoder read without torch: its vectors, their similarity, and the states before them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

import tiny
from heedful.errors import DataError, UsageError
from heedful.export import described
from heedful.models import ModelConfig
from heedful.runtime import SentenceVectors, load
from heedful.tasks import TextSettings, VectorModel, build_network, load_model
from heedful.text.unknown_words import NgramRule
from heedful.text.vocabulary import Vocabulary
from onnx_sessions import open_session

TEXTS = ["the film was dull .", "", "superb films, a song!", "xyzzy", "it is " * 60]
LENGTHS = [1, 0, 1, 0, 1]
"""An unknown word is a zero vector, and the biases of these networks are zero too."""
TOLERANCE = 2e-6


@pytest.fixture
def both(saved: Any) -> tuple[VectorModel, SentenceVectors, Path]:
    made, path = saved({"task": "vector", "encoder": "disan", "outputs": 6})
    model = load(path)
    assert isinstance(model, SentenceVectors)
    return made, model, path


def test_vectors_are_those_of_torch_and_of_unit_length(
    both: tuple[VectorModel, SentenceVectors, Path],
) -> None:
    made, model, path = both
    found = model.encode(TEXTS)
    assert found.shape == (5, 6)
    assert model.width == 6
    for other in (made, load_model(path)):
        assert np.abs(found - other.encode(TEXTS)).max() <= TOLERANCE  # type: ignore[union-attr]
    assert np.linalg.norm(found, axis=1) == pytest.approx(LENGTHS, abs=1e-6)
    assert not found[1].any()
    assert model.encode([]).shape == (0, 6)


def test_a_text_is_the_same_to_the_last_bit_beside_others(
    both: tuple[VectorModel, SentenceVectors, Path],
) -> None:
    _, model, _ = both
    alone = np.concatenate([model.encode([text]) for text in TEXTS])
    assert np.array_equal(alone, model.encode(TEXTS))
    assert np.array_equal(alone, model.threaded(2).encode(TEXTS * 30)[:5])


def test_similarity(both: tuple[VectorModel, SentenceVectors, Path]) -> None:
    made, model, _ = both
    for each in (made, model):
        assert each.similarity("the film", "the film") == pytest.approx(1, abs=1e-6)
        assert each.similarity("the film", "") == 0
        table = each.similarity(TEXTS, TEXTS[:2])
        assert table.shape == (5, 2)
        assert table[0, 0] == pytest.approx(1, abs=1e-6)
        assert each.similarity(TEXTS[0], TEXTS[2]) == pytest.approx(
            each.similarity(TEXTS, TEXTS)[0, 2], abs=1e-6
        )
        with pytest.raises(UsageError, match="two lists"):
            each.similarity("the film", ["the film"])  # type: ignore[call-overload]


def test_unknown_words_are_spelled_in_vectors_and_are_nothing_in_states(tmp_path: Path) -> None:
    torch.manual_seed(3)
    rule = NgramRule(rows=40, unknown_alone=True)
    vocabulary = Vocabulary(("the", "film", "was"), oov="nearest", ngrams=rule)
    config = ModelConfig(task="vector", width=12, outputs=5, dropout=0.0)
    network = build_network(config, torch.randn(5, 12), ngrams=torch.randn(40, 12))
    made = VectorModel(network, config, vocabulary, (), TextSettings())  # type: ignore[arg-type]
    made.save(tmp_path / "model")
    model = load(tmp_path / "model")
    assert isinstance(model, SentenceVectors)
    texts = ["the film was xyzzy", "the film was plugh", "XYZZY", "the fiml was", "the film was"]
    words = [text.split() for text in texts]
    assert np.abs(model.encode(texts) - made.encode(texts)).max() <= TOLERANCE
    assert np.abs(model.states(words) - made.states(words)).max() <= TOLERANCE
    assert (model.encode(texts[:1]) != model.encode(texts[1:2])).any()
    assert np.array_equal(model.states(words[:1]), model.states(words[1:2]))
    assert np.array_equal(model.features(words[:1]), model.features(words[1:2]))
    assert np.array_equal(*model.encode(texts[3:])), "the nearest known word stands for one with a typo"
    assert np.array_equal(*model.states(words[3:]))


@pytest.mark.parametrize(
    "wrong", ["the film", ["the film"], None, 3, [None], [["a", 3]], [b"ab"], [{"a"}], [[["a"]]]]
)
def test_states_are_asked_for_with_words(wrong: Any, both: tuple[VectorModel, SentenceVectors, Path]) -> None:
    for each in both[:2]:
        with pytest.raises(UsageError, match="the words of each text"):
            each.states(wrong)


def test_texts_may_come_one_by_one(both: tuple[VectorModel, SentenceVectors, Path]) -> None:
    _, model, _ = both
    assert np.array_equal(model.encode(text for text in TEXTS), model.encode(TEXTS))
    assert model.encode(text for text in ()).shape == (0, 6)


def test_columns_of_other_libraries_are_lists_of_texts(
    both: tuple[VectorModel, SentenceVectors, Path],
) -> None:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    columns = (np.array(TEXTS), pandas.Series(TEXTS, index=range(5, 10)), arrow.array(TEXTS))
    for model in both[:2]:
        rows = model.encode(TEXTS)
        for column in columns:
            assert np.array_equal(model.encode(column), rows)
            assert np.array_equal(model.similarity(column, column), rows @ rows.T)
        # A table gives the names of its columns, one by one.
        for wrong in (
            pandas.DataFrame({"text": TEXTS}),
            {"text": TEXTS},
            np.array("text"),
            sparse.eye_array(2),
        ):
            with pytest.raises(UsageError, match=f"list of requests, got {type(wrong).__name__}"):
                model.encode(wrong)


@pytest.mark.parametrize("wrong", [None, 3, 2.5, b"the film", {"the film"}, np.array([["the film"]])])
def test_what_is_no_list_of_texts_is_one_line(
    wrong: Any, both: tuple[VectorModel, SentenceVectors, Path]
) -> None:
    made, model, _ = both
    for each in (made, model):
        for ask in (
            lambda model: model.encode(wrong),
            lambda model: model.similarity(wrong, wrong),
            lambda model: model.similarity("the film", wrong),
            lambda model: model.similarity(["the film"], [wrong]),
        ):
            with pytest.raises((UsageError, DataError)) as caught:
                ask(each)
            assert "\n" not in str(caught.value)
            assert "expected" in str(caught.value) or "missing" in str(caught.value)


def test_states_of_words(both: tuple[VectorModel, SentenceVectors, Path]) -> None:
    made, model, _ = both
    words = [("the", "film"), (), ("xyzzy",), ("it",) * 500] + [("a", "song")] * 70
    found = model.states(words)
    assert found.shape == (74, model.states_width) == (74, 2 * 24 + 24)
    assert np.abs(found - made.states(words)).max() <= TOLERANCE
    assert np.array_equal(found[:1], model.states(words[:1]))
    assert np.linalg.norm(found[:, :48], axis=1)[[0, 1]] == pytest.approx([1, 0], abs=1e-6)
    assert np.linalg.norm(found[:, 48:], axis=1)[[0, 1]] == pytest.approx([1, 0], abs=1e-6)
    assert model.states([]).shape == (0, 72)


def test_labels_by_their_names(both: tuple[VectorModel, SentenceVectors, Path]) -> None:
    made, model, _ = both
    with pytest.raises(UsageError, match="--label"):
        list(model.predict(["the film"]))
    with pytest.raises(UsageError, match="--label"):
        made.answer(["the film"])
    named = model.with_labels(["film", "song"])
    for limited in (named, named.limited(10, "head"), named.threaded(2)):
        assert [answer.label for answer in limited.predict(["a song", "film"])] == ["song", "film"]  # type: ignore[union-attr]
    by_torch = made.with_labels(["film", "song"]).answer(["a song", "film", ""])
    for one, other in zip(named.predict(["a song", "film", ""]), by_torch, strict=True):
        assert one.as_dict()["probabilities"] == pytest.approx(other.probabilities, abs=1e-5)


def test_a_long_text_is_refused_by_its_row(both: tuple[VectorModel, SentenceVectors, Path]) -> None:
    _, model, _ = both
    with pytest.raises(DataError, match="row 2"):
        model.limited(3).encode(["a", "a b c d"])


def test_exports_give_the_same_vectors(
    both: tuple[VectorModel, SentenceVectors, Path], tmp_path: Path
) -> None:
    made, model, path = both
    pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    result = tiny.run(
        "export", path, "--int8", tmp_path / "small", "--onnx", tmp_path / "model.onnx", "--check"
    )
    assert result.code == 0, result.err
    small = load(tmp_path / "small").encode(TEXTS)
    assert np.abs(small - model.encode(TEXTS)).max() < 0.05
    assert np.linalg.norm(small, axis=1) == pytest.approx(LENGTHS, abs=1e-6)
    session = open_session(tmp_path / "model.onnx")
    assert [each.name for each in session.get_outputs()] == ["vector", "states"]
    words = TEXTS[0].split()
    ids = np.array([[model.reading.vocabulary.id(word) for word in words] + [0]], np.int64)
    states, vector = session.run(["states", "vector"], {"ids": ids})
    assert np.abs(vector - made.encode(TEXTS[:1])).max() < 1e-5
    assert np.abs(states - model.states([words])).max() < 1e-5
    assert described(made.network)["vector"] is not None


def test_the_command_gives_vectors_without_torch(both: tuple[VectorModel, SentenceVectors, Path]) -> None:
    made, _, path = both
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'torch': raise ImportError(name)\n"
        "sys.meta_path.insert(0, Missing)\n"
        "from heedful.cli.main import main\n"
        "main(['encode', sys.argv[1], '--text', 'the film', '--text', ''])"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [np.array(json.loads(line)) for line in done.stdout.splitlines()]
    assert np.abs(np.stack(rows) - made.encode(["the film", ""])).max() < 1e-5
