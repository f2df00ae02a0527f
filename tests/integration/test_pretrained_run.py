"""Models on a pretrained encoder from the settings to the answers: trained, saved whole, loaded alone, explained."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from heedful import PairClassifier, TextClassifier, from_pretrained
from heedful.data.parses import conllu_text
from heedful.errors import ArtifactError, DataError, UsageError
from heedful.text.dependency import Parse
from tiny_encoder import write_encoder

pytest.importorskip("transformers")

TEXTS = ["good plot and fine acting", "dull plot and poor actings"] * 20
LABELS = ["positive", "negative"] * 20
ASKED = ["fine unknown plot", "", "the telescope was not good", "dull"]
SMALL = {
    "model__encoder": "mssan",
    "model__activation": "relu",
    "model__hidden": 8,
    "model__dropout": 0.0,
    "batches__size": 4,
    "train__optimizer__lr": 0.002,
    "train__epochs": 6,
    "train__device": "cpu",
    "data__truncate": "error",
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("run") / "encoder")


@pytest.fixture(scope="module")
def fitted(encoder: Path) -> TextClassifier:
    return TextClassifier(model__pretrained__name=str(encoder), **SMALL).fit(TEXTS, LABELS)


def test_it_learns_and_answers_any_text(fitted: TextClassifier) -> None:
    assert list(fitted.predict(TEXTS[:2])) == LABELS[:2]
    answers = fitted.answer(ASKED)
    assert [answer.tokens for answer in answers] == [(3,), (0,), (5,), (1,)], "words are counted, not pieces"
    assert [answer.unknown for answer in answers] == [0, 0, 1, 0]
    assert [answer.empty for answer in answers] == [False, True, False, False]
    vectors = fitted.encode(ASKED)
    assert vectors.shape == (4, 2 * 12)
    assert not vectors[1].any()
    np.testing.assert_allclose(fitted.encode(ASKED[3:]), vectors[3:], atol=2e-6)


def test_the_settings_say_the_width_that_is_there(fitted: TextClassifier) -> None:
    assert fitted.predictor.model.width == 12
    network = fitted.predictor.network
    assert fitted.result_ is not None
    assert fitted.result_.parameters == sum(p.numel() for p in network.parameters())


def test_the_saved_folder_is_all_a_model_needs(encoder: Path, tmp_path: Path) -> None:
    own = shutil.copytree(encoder, tmp_path / "encoder")
    model = TextClassifier(model__pretrained__name=str(own), **SMALL).fit(TEXTS, LABELS)
    model.save_pretrained(tmp_path / "model")
    shutil.rmtree(own)
    names = {file.name for file in (tmp_path / "model").iterdir()}
    assert not [name for name in names if not name.endswith((".json", ".safetensors", ".md"))]
    loaded = from_pretrained(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(ASKED), model.predict_proba(ASKED))
    np.testing.assert_array_equal(loaded.encode(ASKED), model.encode(ASKED))
    loaded.save_pretrained(tmp_path / "again")
    for name in ("weights.safetensors", "vocabulary.json", "config.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "reads words in pieces, at most 30 a text" in card
    (tmp_path / "model" / "vocabulary.json").write_text("{}")
    with pytest.raises(ArtifactError, match=r"vocabulary\.json: was altered"):
        from_pretrained(tmp_path / "model")


def test_a_frozen_encoder_keeps_its_weights(encoder: Path) -> None:
    from heedful.storage.hugging_face import read_encoder

    model = TextClassifier(model__pretrained__name=str(encoder), model__pretrained__lr_factor=0.0, **SMALL)
    model.fit(TEXTS, LABELS)
    embedding = model.predictor.network.sentence_encoder.embedding
    for name, weight in read_encoder(encoder).state_dict().items():
        assert torch.equal(embedding.encoder.state_dict()[name], weight), name
    trained = [p for p in model.predictor.network.parameters() if p.requires_grad]
    assert model.result_ is not None
    assert model.result_.parameters == sum(p.numel() for p in trained)


def test_layers_are_chosen(encoder: Path) -> None:
    one = TextClassifier(model__pretrained__name=str(encoder), model__pretrained__layers=1, **SMALL)
    one.fit(TEXTS, LABELS)
    weights = one.predictor.network.state_dict()
    assert {name.split(".layer.")[1][0] for name in weights if ".layer." in name} == {"0"}


def test_an_explanation_is_of_words(fitted: TextClassifier) -> None:
    shown = fitted.explain("good unknown actings, plot")
    side = shown.sides[0]
    assert side.words == ("good", "unknown", "actings", ",", "plot")
    assert [side.text[start:end] for start, end in side.spans] == list(side.words)
    assert side.weights is not None
    assert side.weights.sum() == pytest.approx(1, abs=1e-5)
    assert len(side.maps) == 6
    for values in side.maps.values():
        np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(np.triu(side.maps["head 3: forward"], 1), 0)
    assert "its word pieces" in shown.notes["weights"]
    assert "[CLS]" in shown.notes["weights"]
    assert fitted.explain("good unknown actings, plot", method="occlusion").faithfulness is not None
    assert fitted.explain("").sides[0].words == ()


def test_a_long_text_is_refused_or_cut_to_what_the_encoder_reads(
    fitted: TextClassifier, tmp_path: Path
) -> None:
    long = " ".join(["actings"] * 12)
    with pytest.raises(DataError, match=r"12 tokens, of which the first 10 fill the word pieces"):
        fitted.predict([long])
    fitted.save_pretrained(tmp_path / "model")
    cutting = from_pretrained(tmp_path / "model", truncate="head")
    answer = cutting.answer([long])[0]
    assert (answer.tokens, answer.truncated) == ((10,), True)
    shown = cutting.explain(long).sides[0]
    assert (len(shown.words), shown.truncated) == (10, True)


def test_trees_of_words_reach_the_pieces(
    encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path))
    heads = (5, 1, 1, 5, 0)
    trees = [Parse(tuple(text.split()), heads) for text in TEXTS[:2]]
    (tmp_path / "trees.conllu").write_text("".join(conllu_text(trees)), encoding="utf-8")
    model = TextClassifier(
        model__pretrained__name=str(encoder),
        text__parser=str(tmp_path / "trees.conllu"),
        text__tokenizer="whitespace",
        **SMALL,
    ).fit(TEXTS, LABELS)
    side = model.explain(TEXTS[1]).sides[0]
    assert side.tree_distance is not None
    assert side.tree_distance[0].tolist() == [0, 1, 1, 2, 1]


@pytest.mark.parametrize("name", ["mssan", "disan", "decomposable"])
def test_pairs_stand_on_an_encoder_too(encoder: Path, name: str) -> None:
    pairs = [("good unknown plot", "fine plot"), ("dull film", "the dog")] * 10
    model = PairClassifier(
        model__pretrained__name=str(encoder), **{**SMALL, "model__encoder": name, "train__epochs": 1}
    ).fit(pairs, ["same", "other"] * 10)
    shown = model.explain(("good unknown plot", ""))
    front = ("NULL",) if name == "decomposable" else ()
    assert [side.words for side in shown.sides] == [(*front, "good", "unknown", "plot"), front]
    for values in shown.alignments.values():
        assert values.shape == (4, 1)


def test_the_command_line_trains_evaluates_answers_and_explains(encoder: Path, tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")
    shutil.copytree(encoder, data / "encoder")
    options = ("encoder=mssan", "pretrained.name=encoder", "hidden=8", "activation=relu")
    sets = [part for option in options for part in ("--set", f"model.{option}")]
    sets += ["--set", "train.epochs=1", "--set", "train.device=cpu"]
    result = tiny.run("train", data / "pair.toml", "--data", data, "--out", tmp_path / "run", *sets)
    assert result.code == 0, result.err
    # What training read is found again in the cache.
    again = tiny.run("train", data / "pair.toml", "--data", data, "--out", tmp_path / "second", *sets)
    assert again.code == 0, again.err
    weights = [tmp_path / run / "model" / "weights.safetensors" for run in ("run", "second")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    shutil.rmtree(data / "encoder")
    folder = tmp_path / "run" / "model"
    pair = ("--premise", "A dog sleeps .", "--hypothesis", "The cat runs .")
    answer = tiny.run("predict", folder, *pair, "--json")
    assert answer.code == 0, answer.err
    assert set(json.loads(answer.out.splitlines()[0])) >= {"label", "probabilities"}
    measured = tiny.run("evaluate", folder, data / "pair-test.tsv")
    assert measured.code == 0, measured.err
    page = tmp_path / "why.html"
    shown = tiny.run("explain", folder, *pair, "--html", page)
    assert shown.code == 0, shown.err
    assert "sleeps" in page.read_text(encoding="utf-8")


def test_an_interrupted_run_goes_on_to_the_same_weights(encoder: Path, tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")
    sets = [
        part
        for option in (
            "model.encoder=mssan",
            f"model.pretrained.name={encoder}",
            "model.pretrained.lr_factor=0.1",
            "train.device=cpu",
            "train.save_steps=3",
        )
        for part in ("--set", option)
    ]
    settings = data / "text.toml"
    whole = tiny.run(
        "train", settings, "--data", data, "--out", tmp_path / "whole", *sets, "--set", "train.epochs=2"
    )
    part = tiny.run(
        "train", settings, "--data", data, "--out", tmp_path / "part", *sets, "--set", "train.epochs=1"
    )
    rest = tiny.run(
        "train",
        settings,
        "--data",
        data,
        "--out",
        tmp_path / "part",
        *sets,
        "--set",
        "train.epochs=2",
        "--resume",
    )
    assert [whole.code, part.code, rest.code] == [0, 0, 0], rest.err
    weights = [tmp_path / run / "model" / "weights.safetensors" for run in ("whole", "part")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_word_vectors_and_an_encoder_together_are_refused(encoder: Path) -> None:
    model = TextClassifier(model__pretrained__name=str(encoder), text__vectors="vectors.txt", **SMALL)
    with pytest.raises(UsageError, match=r"text\.vectors and model\.pretrained\.name"):
        model.fit(TEXTS, LABELS)


def test_an_encoder_that_is_not_there_is_named() -> None:
    model = TextClassifier(model__pretrained__name="nobody/nothing", **SMALL)
    with pytest.raises(DataError, match=r"model\.pretrained\.name='nobody/nothing': neither a folder"):
        model.fit(TEXTS, LABELS)


def test_it_teaches_a_student_of_words_and_is_taught(
    encoder: Path, fitted: TextClassifier, tmp_path: Path
) -> None:
    fitted.save_pretrained(tmp_path / "large")
    words = {"model__width": 8, "model__hidden": 8, "model__wide": "none", "train__epochs": 3}
    student = TextClassifier(**words, distil__vectors=0.1, distil__augment=2)
    student.fit(TEXTS, LABELS, teacher=tmp_path / "large", baseline=False)
    assert student.encode(["fine plot"]).shape == (1, 16)
    student.save_pretrained(tmp_path / "small")
    taught = TextClassifier(model__pretrained__name=str(encoder), **SMALL, distil__vectors=0.1)
    taught.fit(TEXTS, LABELS, teacher=[tmp_path / "large", tmp_path / "small"], baseline=False)
    assert list(taught.predict(TEXTS[:2])) == LABELS[:2]
