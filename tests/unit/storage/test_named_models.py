"""Models on the Hub, pushed to and read from a server on loopback, and models that installed packages bring."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heedful
import tiny
from heedful.errors import ArtifactError, DataError, HeedfulError, OutputError, UsageError
from heedful.serving.model_store import named
from heedful.storage.entry_points import EntryPoint
from heedful.storage.installed import MODELS
from heedful.storage.named_models import find_model, push_model
from loopback_hub import LoopbackHub, serving

pytest.importorskip("huggingface_hub")

TEXTS, LABELS = zip(*tiny.texts()[:80], strict=True)
NAME = "someone/polarity"


@pytest.fixture(scope="module")
def model() -> heedful.TextClassifier:
    return heedful.TextClassifier(model__width=16, model__hidden=16, train__epochs=2).fit(TEXTS, LABELS)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    """Serve a Hub whose cache on this machine is empty."""
    from huggingface_hub import constants

    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN", "hf_loopback")
    with serving() as (served, address):
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield served


def test_a_pushed_model_answers_the_same(hub: LoopbackHub, model: heedful.TextClassifier) -> None:
    address = model.push_to_hub(NAME, private=True, license="apache-2.0")
    assert address.endswith(hub.commits[NAME][-1][0])
    assert hub.private[NAME]
    loaded = heedful.from_pretrained(NAME, download=True)
    assert np.array_equal(loaded.predict_proba(TEXTS[:20]), model.predict_proba(TEXTS[:20]))
    asked = len(hub.asked)
    again = heedful.TextClassifier.from_pretrained(NAME)
    assert np.array_equal(again.predict(TEXTS[:20]), model.predict(TEXTS[:20]))
    assert len(hub.asked) == asked, "what is in the cache is read without the network"
    assert tiny.run("predict", NAME, "--text", "The film was superb .").code == 0


def test_the_card_begins_with_what_the_hub_reads(hub: LoopbackHub, model: heedful.TextClassifier) -> None:
    model.push_to_hub(NAME, license="apache-2.0")
    card = hub.commits[NAME][-1][1]["README.md"].decode()
    front = dict(line.split(": ", 1) for line in card.split("---\n")[1].splitlines())
    values = {key: json.loads(value) for key, value in front.items()}
    assert values["license"] == "apache-2.0"
    assert values["library_name"] == "heedful"
    assert values["pipeline_tag"] == "text-classification"
    figures = values["model-index"][0]["results"][0]["metrics"]
    assert "accuracy" in [figure["type"] for figure in figures]


def test_a_revision_is_read(hub: LoopbackHub, model: heedful.TextClassifier) -> None:
    model.push_to_hub(NAME)
    first = hub.commits[NAME][0][0]
    model.push_to_hub(NAME, license="mit")
    assert "license" not in (find_model(NAME, revision=first, download=True) / "README.md").read_text()
    assert 'license: "mit"' in (find_model(NAME, download=True) / "README.md").read_text()


def test_nothing_is_fetched_unless_asked(hub: LoopbackHub, model: heedful.TextClassifier) -> None:
    model.push_to_hub(NAME)
    hub.asked.clear()
    with pytest.raises(ArtifactError):
        heedful.from_pretrained(NAME)
    with pytest.raises(DataError, match="download=True"):
        heedful.from_pretrained(NAME, revision="main")
    assert not hub.asked


def test_no_pickle_and_no_program_is_fetched(hub: LoopbackHub, model: heedful.TextClassifier) -> None:
    model.push_to_hub(NAME)
    hub.commit(NAME, {"pytorch_model.bin": b"\x80\x04", "modeling.py": b"raise SystemExit"})
    folder = find_model(NAME, download=True)
    assert not [file for file in folder.iterdir() if file.suffix in (".bin", ".py")]
    assert not [line for line in hub.asked if "resolve" in line and (".bin" in line or ".py" in line)]


def test_a_file_altered_on_the_hub_is_noticed(hub: LoopbackHub, model: heedful.TextClassifier) -> None:
    model.push_to_hub(NAME)
    hub.commit(NAME, {"labels.json": b'["a", "b"]\n'})
    with pytest.raises(ArtifactError, match=r"labels\.json"):
        heedful.from_pretrained(NAME, download=True)


def test_what_the_hub_refuses_is_one_line(
    hub: LoopbackHub, model: heedful.TextClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="someone/nothing"):
        heedful.from_pretrained("someone/nothing", download=True)
    model.save_pretrained(tmp_path / "model")
    with pytest.raises(UsageError, match="user/name"):
        push_model(tmp_path / "model", "no name")
    with pytest.raises(UsageError, match="user/name"):
        heedful.from_pretrained(tmp_path / "model", download=True)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(OutputError) as refused:
        push_model(tmp_path / "model", NAME)
    assert "\n" not in str(refused.value)


def test_a_damaged_folder_is_not_pushed(
    hub: LoopbackHub, model: heedful.TextClassifier, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path / "model")
    (tmp_path / "model" / "labels.json").write_text('["x"]\n')
    with pytest.raises(ArtifactError):
        push_model(tmp_path / "model", NAME)
    assert NAME not in hub.commits


def test_a_model_of_an_installed_package(
    model: heedful.TextClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save_pretrained(tmp_path / "kept")
    entry = EntryPoint("made-polarity", f"{__name__}:packaged_folder", MODELS, "made")
    monkeypatch.setattr(f"{__name__}._PACKAGED", [tmp_path / "kept"])
    monkeypatch.setattr("heedful.storage.installed.entry_points", lambda: [entry])
    assert np.array_equal(heedful.load("made-polarity").predict(TEXTS[:9]), model.predict(TEXTS[:9]))
    assert tiny.run("predict", "made-polarity", "--text", "A dull film .").code == 0
    answers = heedful.runtime.load("made-polarity").predict(TEXTS[:9])
    assert [answer.label for answer in answers] == list(model.predict(TEXTS[:9]))
    assert named(["made-polarity", "other=made-polarity"]) == dict.fromkeys(
        ("made-polarity", "other"), tmp_path / "kept"
    )
    with pytest.raises(UsageError, match=r"no such folder.*made-polarity"):
        heedful.load("made-polarit")


@pytest.mark.parametrize("damage", ["cut", "lost", "no manifest", "no folder"])
def test_a_damaged_model_of_a_package_is_to_be_installed_again(
    model: heedful.TextClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    model.save_pretrained(kept := tmp_path / "kept")
    entry = EntryPoint("made-polarity", f"{__name__}:packaged_folder", MODELS, "made")
    monkeypatch.setattr(f"{__name__}._PACKAGED", [kept])
    monkeypatch.setattr("heedful.storage.installed.entry_points", lambda: [entry])
    if damage == "cut":
        (kept / "labels.json").write_text("[")
    elif damage == "no folder":
        shutil.rmtree(kept)
    else:
        (kept / {"lost": "labels.json", "no manifest": "manifest.json"}[damage]).unlink()
    for read in (heedful.load, heedful.runtime.load):
        with pytest.raises(
            ArtifactError, match=r"kept[^.]*.*an installed package: install that again$"
        ) as it:
            read("made-polarity")
        assert "train the model" not in str(it.value)
        assert "Check the path" not in str(it.value)
    said = tiny.run("predict", "made-polarity", "A dull film .")
    assert (said.code, said.err.endswith("install that again\n")) == (5, True)
    refused = tiny.run(
        "train", tiny_rows(tmp_path), "--set", "model.start=made-polarity", "--out", tmp_path / "o"
    )
    assert (refused.code, refused.err.endswith("install that again\n")) == (5, True)


def test_load_opens_folders_as_it_opens_names(
    model: heedful.TextClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save_pretrained(tmp_path / "runs" / "mine" / "model")
    monkeypatch.chdir(tmp_path / "runs")
    for place in ("mine", "mine/model", "../runs/mine/", tmp_path / "runs" / "mine"):
        loaded = heedful.load(place)
        assert type(loaded) is heedful.TextClassifier
        assert np.array_equal(loaded.predict_proba(TEXTS[:5]), model.predict_proba(TEXTS[:5]))
    (tmp_path / "runs" / "file").write_text("x")
    for wrong in ("mien", "runs/mine", "", "file", tmp_path / "nothing", tmp_path):
        with pytest.raises(HeedfulError) as refused:
            heedful.load(wrong)
        assert "\n" not in str(refused.value)
    readers: list[Callable[[Any], object]] = [heedful.load, heedful.from_pretrained, heedful.runtime.load]
    for strange in (None, 5, ["mine"], model):
        for read in readers:
            with pytest.raises(UsageError, match="the folder or name of a model must be a path"):
                read(strange)


def tiny_rows(folder: Path) -> Path:
    """Write the texts as a table."""
    rows = (f'"{text}",{label}\n' for text, label in zip(TEXTS, LABELS, strict=True))
    (folder / "rows.csv").write_text("text,label\n" + "".join(rows))
    return folder / "rows.csv"


_PACKAGED: list[Path] = []


def packaged_folder() -> Path:
    return _PACKAGED[0]


def test_sentence_transformers_has_the_same_vectors(model: heedful.TextClassifier, tmp_path: Path) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    from heedful.estimators.sentence_transformer import HeedfulModule

    model.save_pretrained(tmp_path / "model")
    module = HeedfulModule(tmp_path / "model")
    whole = sentence_transformers.SentenceTransformer(modules=[module], device="cpu")
    texts = [*TEXTS[:7], ""]
    expected = model.encode(texts)
    assert np.allclose(whole.encode(texts), expected, atol=1e-6)
    assert whole.get_embedding_dimension() == expected.shape[1]
    features = module.preprocess(texts)
    module(features)["sentence_embedding"].sum().backward()
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in module.parameters())
    whole.save(str(tmp_path / "whole"))
    shutil.rmtree(tmp_path / "model")
    again = sentence_transformers.SentenceTransformer(
        str(tmp_path / "whole"), device="cpu", trust_remote_code=True
    )
    assert np.allclose(again.encode(texts), expected, atol=1e-6)
