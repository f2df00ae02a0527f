"""A network that starts from another model: its settings, its weights, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import torch

import heedful
from heedful import PairClassifier, TextClassifier
from heedful.errors import UsageError
from heedful.estimators import TextScorer, TokenTagger
from heedful.run import prepare, train
from heedful.run.recipe_files import load_config, override
from heedful.run.run_config import RunConfig

SMALL: dict[str, Any] = {
    "text__vectors": "",
    "model__width": 8,
    "model__hidden": 6,
    "model__encoder_options": {"inner": 5},
    "model__wide": "none",
    "model__sentence": "none",
    "data__few_rows": 0,
    "train__least_steps": 0,
    "train__epochs": 1,
}
TEXTS = [
    f"{who} {what} here" for who in ("cats", "dogs", "birds", "fish") for what in ("sleep", "eat", "run")
]
LABELS = ["pet", "pet", "wild"] * 4


def started(folder: Path, **changes: Any) -> dict[str, Any]:
    """Settings of a network that starts from a folder and hardly moves."""
    kept = {name: value for name, value in SMALL.items() if name != "model__encoder_options"}
    return {**kept, "model__start": str(folder), "train__optimizer__lr": 1e-12, **changes}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that another one starts from."""
    made = TextClassifier(**SMALL).fit(TEXTS, LABELS, baseline=False)
    place = tmp_path_factory.mktemp("start") / "model"
    made.save_pretrained(place)
    return place


def vectors(model: Any, texts: list[str]) -> torch.Tensor:
    return torch.as_tensor(model.encode(texts))


def test_what_starts_from_a_model_reads_a_text_as_that_does(folder: Path, tmp_path: Path) -> None:
    other = ["red", "blue", "red"] * 4
    words = [text.replace("here", "there") for text in TEXTS]
    made = TextClassifier(**started(folder)).fit([*TEXTS, *words], [*other, *other], baseline=False)
    expected = heedful.load(folder).encode(TEXTS)
    torch.testing.assert_close(
        vectors(made.predictor, TEXTS), torch.as_tensor(expected), rtol=1e-5, atol=1e-6
    )
    plain = TextClassifier(**{**SMALL, "train__optimizer__lr": 1e-12}).fit(TEXTS, other, baseline=False)
    assert (vectors(plain.predictor, TEXTS) - torch.as_tensor(expected)).abs().max() > 1e-2
    assert made.predictor.model.start == "", "a saved model says nothing of folders on this machine"
    assert made.predictor.model.encoder_options == {"inner": 5}


def test_pairs_numbers_and_tags_start_from_a_model_of_texts(folder: Path) -> None:
    pairs = [(text, TEXTS[0]) for text in TEXTS]
    compared = PairClassifier(**started(folder)).fit(pairs, LABELS, baseline=False)
    scored = TextScorer(**started(folder)).fit(TEXTS, range(len(TEXTS)), baseline=False)
    settings = started(folder, model__encoder_options={})
    del settings["model__hidden"]
    tagged = TokenTagger(**settings).fit(
        [text.split() for text in TEXTS], [["O", "B-x", "O"]] * len(TEXTS), baseline=False
    )
    begun = heedful.load(folder).predictor.network.state_dict()
    for made in (compared, scored, tagged):
        own = made.predictor.network.state_dict()
        names = [name for name in own if name.startswith("sentence_encoder.encoder.")]
        assert names
        for name in names:
            torch.testing.assert_close(own[name], begun[name], rtol=0, atol=1e-6)


def test_a_wider_pooling_pools_alike_at_first() -> None:
    from heedful.nn.pooling import SourceToToken
    from heedful.tasks.words.starting import _widen

    narrow, wide = (
        SourceToToken(6, activation="elu", dropout=0.0),
        SourceToToken(6, activation="elu", dropout=0.0),
    )
    for name in ("hidden.weight", "hidden.bias"):
        narrow.get_parameter(name).data = narrow.get_parameter(name).data[:4]
    narrow.score.weight.data = narrow.score.weight.data[:, :4]
    own = wide.state_dict()
    for name, values in own.items():
        _widen(name, values, narrow.state_dict()[name])
    wide.load_state_dict(own)
    states, valid = torch.randn(2, 5, 6), torch.ones(2, 5, dtype=torch.bool)
    torch.testing.assert_close(wide(states, valid).vector, narrow(states, valid).vector)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model__encoder": "mtsa"}, r"model\.encoder='mtsa': .* has 'disan'; leave model\.encoder alone"),
        ({"model__width": 50}, r"model\.width=50: .* has 8"),
        ({"model__pooling": "mean"}, r"model\.pooling='mean': .* has 'source2token'"),
        ({"model__start": "en-sentence"}, "no such folder.*did you mean 'en-sentences'"),
        ({"model__start": "en-roles"}, "model.start"),
    ],
)
def test_what_contradicts_is_refused_in_one_line(folder: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(heedful.errors.HeedfulError, match=message) as error:
        TextClassifier(**started(folder, **changes)).fit(TEXTS, LABELS, baseline=False)
    assert "\n" not in str(error.value)


def test_linear_parts_alone_and_another_beginning_are_refused_or_left(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linear = TextClassifier(
        model__wide="linear", text__vectors="", model__sentence="none", model__encoder="none"
    )
    path = tmp_path / "linear"
    linear.fit(TEXTS, LABELS, baseline=False).save_pretrained(path)
    with pytest.raises(UsageError, match=r"model\.start: .* has none; name another"):
        TextClassifier(**started(path, model__width=1)).fit(TEXTS, LABELS, baseline=False)
    with pytest.raises(UsageError, match=r"model\.start and model\.pretrained\.name"):
        TextClassifier(**started(folder, model__pretrained__name="folder")).fit(TEXTS, LABELS, baseline=False)


SENTENCES = ["what is the capital of France", "how do I return it", "the film was dull and they left"]


def student(folder: Path, texts: list[str], **settings: object) -> RunConfig:
    """Settings of a student of a file of soft labels, whose texts are in a table."""
    rows = [(f"{texts[n % 3]} {n % 7}", "abc"[n % 3]) for n in range(40)]
    with (folder / "train.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    soft = [
        {"text": text, "probabilities": {each: float(each == label) for each in "abc"}}
        for text, label in rows
    ]
    (folder / "soft.jsonl").write_text("\n".join(map(json.dumps, soft)), encoding="utf-8")
    named = {"data.train": str(folder / "train.csv"), "data.few_rows": 0, "train.max_steps": 1}
    teacher = {"distil.teacher": [str(folder / "soft.jsonl")]}
    return override(load_config("my-texts"), {**named, **teacher, **settings})


@pytest.mark.english
@pytest.mark.parametrize(
    ("texts", "settings", "begins"),
    [
        (SENTENCES, {}, True),
        (SENTENCES, {"distil.teacher": []}, False),
        (SENTENCES, {"model.start": ""}, False),
        (SENTENCES, {"model.width": 8}, False),
        (SENTENCES, {"model.encoder": "bi-lstm"}, False),
        (SENTENCES, {"text.vectors": ""}, False),
        (["wie ist die Hauptstadt", "der Film war nicht gut", "ich habe es nicht"], {}, False),
    ],
)
def test_a_student_of_english_texts_begins_with_the_sentence_encoder(
    tmp_path: Path, texts: list[str], settings: dict[str, object], begins: bool
) -> None:
    config = student(tmp_path, texts, **settings)
    prepared = prepare(config, None, tmp_path / "cache")
    assert (prepared.start is not None and prepared.start.name == "en-sentences") == begins
    assert prepared.decided.get("model.start", "") == ("en-sentences" if begins else "")


@pytest.mark.english
def test_such_a_student_has_twice_as_many_epochs_and_no_network_of_few_rows(tmp_path: Path) -> None:
    config = override(student(tmp_path, SENTENCES), {"train.max_steps": 0})
    longer = override(config, {"data.few_rows": 0})
    found = prepare(longer, None, tmp_path / "cache").decided
    assert (found["train.epochs"], found["train.least_steps"]) == (6, 800)
    named = prepare(override(longer, {"train.epochs": 2}), None, tmp_path / "cache").decided
    assert (named["train.epochs"], named["train.least_steps"]) == (2, 0)
    few = override(config, {"data.few_rows": 1000})
    assert prepare(few, None, tmp_path / "cache").decided["model.encoder"] == "none"


@pytest.mark.english
def test_a_student_that_began_with_the_sentence_encoder_is_trained_saved_and_answers(tmp_path: Path) -> None:
    config = student(tmp_path, SENTENCES)
    result = train(config, prepare(config, None, tmp_path / "cache"), folder=tmp_path / "run")
    assert result.predictor.model.width == 300
    assert result.predictor.model.start == ""
    assert heedful.load(tmp_path / "run").predict(["how do I return it"])


def test_python_and_the_command_line_have_it_by_default() -> None:
    assert TextClassifier()._defaults().model.start == load_config("my-texts").model.start == "auto"
