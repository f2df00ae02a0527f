"""The task whose answer is a vector: what it refuses, and that its settings are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import tiny
from heedful.errors import UsageError
from heedful.models import ModelConfig
from heedful.runtime import load
from heedful.tasks import Predictor, VectorModel, build_network, load_model
from heedful.tasks.schema import About, TextSettings
from heedful.text.vocabulary import Vocabulary

WORDS = ("the", "film", "was", "dull", "money", "back", "praise")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    torch.manual_seed(1)
    config = ModelConfig(task="vector", width=10, outputs=4, dropout=0.0)
    network = build_network(config, torch.randn(len(WORDS) + 2, 10))
    about = About(temperature=0.05)
    VectorModel(network, config, Vocabulary(WORDS, oov="nearest"), (), TextSettings(), about).save(
        tmp_path / "model"
    )
    return tmp_path / "model"


def test_labels_stay_with_another_limit(saved: Path) -> None:
    model = load_model(saved)
    assert isinstance(model, VectorModel)
    named = model.with_labels(["film", "money"])
    assert [answer.label for answer in named.limited(5, "head").answer(["money", "the film"])] == [
        "money",
        "film",
    ]
    with pytest.raises(UsageError, match="--label"):
        model.answer(["money"])
    with pytest.raises(UsageError, match="not explained"):
        named.explain("money")
    assert named.about.temperature == 0.05


def test_the_pooling_may_have_fewer_hidden_units(tmp_path: Path) -> None:
    config = ModelConfig(task="vector", width=10, outputs=4, task_options={"pooled_hidden": 3})
    network = build_network(config, torch.randn(len(WORDS) + 2, 10))
    VectorModel(network, config, Vocabulary(WORDS), (), TextSettings(), About()).save(tmp_path / "model")
    model, runtime = load_model(tmp_path / "model"), load(tmp_path / "model")
    assert isinstance(model, VectorModel)
    assert model.network.state_dict()["sentence_encoder.pooling.hidden.weight"].shape == (3, 20)
    texts = ["the film was dull", "money"]
    assert runtime.encode(texts) == pytest.approx(model.encode(texts), abs=1e-5)


@pytest.mark.parametrize(("command", "said"), [("predict", "--label"), ("explain", "not explained")])
def test_without_labels_the_commands_say_what_to_do(command: str, said: str, saved: Path) -> None:
    result = tiny.run(command, saved, "--text", "the film")
    assert result.code == 2
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_it_is_not_trained_on_labels(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\nthe film,a\nmoney back,b\n")
    (tmp_path / "recipe.toml").write_text('[data]\ntrain = "train.csv"\n[model]\ntask = "vector"\n')
    result = tiny.run("train", tmp_path / "recipe.toml", "--data", tmp_path, "--out", tmp_path / "run")
    assert result.code == 2
    assert "model.task='vector'" in result.err
    assert "Traceback" not in result.err


def test_names_of_labels_on_the_command_line(saved: Path, tmp_path: Path) -> None:
    examples = tmp_path / "first.csv"
    examples.write_text("text,label\nthe film was dull,praise\n", encoding="utf-8")
    asked = ("predict", saved, "--label", "money back", "--label", "praise", "--text", "film", "--json")
    plain, refined = (tiny.run(*asked, *more) for more in ((), ("--examples", examples)))
    for result in (plain, refined):
        assert result.code == 0, result.err
    before, after = (json.loads(result.out)["probabilities"]["praise"] for result in (plain, refined))
    assert after > before
    with_torch = tiny.run(*asked, "--precision", "int8")
    assert with_torch.code == 0, with_torch.err
    assert json.loads(with_torch.out)["probabilities"]["praise"] == pytest.approx(before, abs=0.1)


def test_names_without_a_known_word_are_named_in_one_line(saved: Path, tmp_path: Path) -> None:
    result = tiny.run("predict", saved, "--label", "退款", "--label", "money", "--text", "film")
    assert result.code == 0
    assert result.err.startswith("the model knows no word of '退款': such names")
    assert result.err.count("\n") == 1
    known = tiny.run("predict", saved, "--label", "film", "--label", "money", "--text", "film")
    assert known.err == ""
    many = [part for name in ("qqq", "rrr", "sss", "ttt") for part in ("--label", name)]
    assert "'qqq', 'rrr', 'sss' and others:" in tiny.run("predict", saved, *many, "--text", "film").err
    examples = tmp_path / "first.csv"
    examples.write_text("text,label\nmoney,qqq\n", encoding="utf-8")
    assert tiny.run("predict", saved, *many, "--examples", examples, "--text", "film").err == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--label", "praise"), "two names"),
        (("--label", "praise,money"), "each with its own --label"),
        (("--label", "praise", "--label", "praise"), "twice"),
        (("--examples", "no.csv"), "--label"),
        (("--label", "praise", "--label", "money", "--examples", "no.csv"), "no.csv"),
        (("--label", "praise", "--label", "money", "--jobs", "2"), "many files"),
    ],
)
def test_what_is_wrong_with_named_labels_is_one_line(
    options: tuple[str, ...], said: str, saved: Path
) -> None:
    result = tiny.run("predict", saved, "--text", "film", *options)
    assert result.code in (2, 65, 66, 3), result
    assert said in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_a_model_of_classes_takes_no_names_of_labels(tmp_path: Path) -> None:
    torch.manual_seed(1)
    config = ModelConfig(width=10, hidden=4, outputs=2)
    network = build_network(config, torch.randn(len(WORDS) + 2, 10))
    Predictor(network, config, Vocabulary(WORDS), ("bad", "good"), TextSettings()).save(tmp_path / "model")
    result = tiny.run("predict", tmp_path / "model", "--text", "film", "--label", "bad", "--label", "good")
    assert result.code == 2
    assert "en-sentences" in result.err


def test_the_module_of_sentence_transformers_gives_the_vectors_of_encode(saved: Path) -> None:
    library = pytest.importorskip(
        "sentence_transformers", reason="the extra sentence-transformers is missing"
    )
    from heedful.estimators.sentence_transformer import HeedfulModule

    module = HeedfulModule(saved)
    made = library.SentenceTransformer(modules=[module], device="cpu")
    texts = ["the film was dull", "money back", ""]
    found = made.encode(texts, show_progress_bar=False)
    assert found == pytest.approx(module.model.encode(texts), abs=1e-5)
    assert module.get_embedding_dimension() == found.shape[1] == 4
