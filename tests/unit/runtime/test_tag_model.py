"""Tags of words without torch: the tags that torch gives, valid spans, and the same refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.errors import ArtifactError, DataError, UsageError
from heedful.explain.explainer import explain
from heedful.export import described
from heedful.export.folder import export_folder
from heedful.models import ModelConfig
from heedful.runtime import kernels, load
from heedful.runtime.tag_model import Tagger
from heedful.serving.served_model import open_served
from heedful.storage.manifest import CONFIG, LABELS, MODEL_FILES, write_json, write_manifest
from heedful.storage.model_folder import load_model_folder
from heedful.tasks import TagsModel, TextSettings, build_network
from heedful.text.bio import bio_tags
from heedful.text.vocabulary import Vocabulary

WORDS = ("the", "film", "was", "dull", "superb", "a", "story", ".", "is", "it")
TEXTS = ["The film was dull .", "", "Superb films, a song!", "xyzzy", "it is " * 60]
TAGS = {"plain": ("NOUN", "O", "VERB"), "bio": bio_tags(["X", "Y"]), "bioes": bio_tags(["X"], "bioes")}
TOLERANCE = 2e-6


def saved(folder: Path, scheme: str = "bio", encoder: str = "disan") -> tuple[TagsModel, Path]:
    torch.manual_seed(3)
    tags = TAGS[scheme]
    config = ModelConfig(task="tags", width=24, hidden=16, outputs=len(tags), encoder=encoder)
    network = build_network(config, torch.randn(len(WORDS) + 2, 24), torch.randn(1, 24))
    made = TagsModel(network, config, Vocabulary(WORDS, extra=("meal",)), tags, TextSettings())
    made.save(folder / "model")
    return made, folder / "model"


@pytest.mark.parametrize("computing", ["compiled", "plain"])
@pytest.mark.parametrize("encoder", ["disan", "mtsa", "mssan", "bi-lstm", "cnn", "embedding", "transformer"])
@pytest.mark.parametrize("scheme", TAGS)
def test_the_answers_are_torchs(
    tmp_path: Path, scheme: str, encoder: str, computing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if computing == "plain":
        monkeypatch.setattr(kernels, "LIBRARY", None)
    made, path = saved(tmp_path, scheme, encoder)
    model = load(path)
    for wanted, found in zip(made.answer(TEXTS), model.predict(TEXTS), strict=True):
        mine, theirs = wanted.as_dict(), found.as_dict()
        assert mine.pop("probabilities") == pytest.approx(theirs.pop("probabilities"), abs=TOLERANCE)
        for span, other in zip(mine["spans"], theirs["spans"], strict=True):
            assert span.pop("probability") == pytest.approx(other.pop("probability"), abs=TOLERANCE)
        assert mine == theirs
        assert (wanted.remarks, wanted.in_a_line()) == (found.remarks, found.in_a_line())


def test_company_changes_no_bit(tmp_path: Path) -> None:
    model = load(saved(tmp_path)[1])
    together = list(model.predict(TEXTS * 3))
    assert (
        [next(model.predict([text])) for text in TEXTS] == together[: len(TEXTS)] == together[-len(TEXTS) :]
    )
    assert model.logits(TEXTS).shape == (sum(len(answer.words) for answer in together[: len(TEXTS)]), 5)


def test_ready_made_words(tmp_path: Path) -> None:
    model = load(saved(tmp_path)[1])
    (found,) = model.predict([["The", "film's", "end ."]])
    assert found.words == ("The", "film's", "end .")
    assert [" ".join(found.words)[a:b] for a, b in found.offsets] == list(found.words)
    with pytest.raises(DataError, match="request 2"):
        list(model.predict(["a", ["a", 3]]))
    with pytest.raises(DataError, match="5 tokens, at most max_tokens = 4"):
        list(model.limited(4, "error").predict(["a b c d e"]))
    with pytest.raises(UsageError):
        model.encode(["a"])


@pytest.mark.parametrize("encoder", ["disan", "mtsa", "mdman", "bi-lstm", "transformer"])
def test_the_explanation_is_torchs(tmp_path: Path, encoder: str) -> None:
    made, path = saved(tmp_path, "bio", encoder)
    model = load(path)
    assert isinstance(model, Tagger)
    wanted, found = made.explain(TEXTS[0]), explain(model, TEXTS[0])
    assert (wanted.labels, wanted.method, wanted.notes) == (found.labels, found.method, found.notes)
    assert wanted.probabilities == pytest.approx(found.probabilities, abs=TOLERANCE)
    (mine,), (theirs,) = wanted.sides, found.sides
    assert (mine.words, mine.spans, mine.unknown) == (theirs.words, theirs.spans, theirs.unknown)
    for ours, other in ((mine.maps, theirs.maps), (mine.gates, theirs.gates)):
        assert list(ours) == list(other)
        for name in ours:
            assert np.abs(ours[name] - other[name]).max() <= TOLERANCE
    with pytest.raises(UsageError, match="no words"):
        explain(model, " ")


def test_the_server_and_small_folders_have_the_same_answers(tmp_path: Path) -> None:
    made, path = saved(tmp_path)
    export_folder(load_model_folder(path), described(made.network), tmp_path / "small", "int8")
    wanted = list(load(path).predict(TEXTS))
    small = list(load(tmp_path / "small").predict(TEXTS))
    assert [len(answer.tags) for answer in small] == [len(answer.tags) for answer in wanted]
    assert small[0].probabilities == pytest.approx(wanted[0].probabilities, abs=0.02)
    served = open_served(path)
    assert (served.kind, served.task, served.answers(TEXTS)) == ("runtime", "tags", wanted)
    assert served.explain(TEXTS[0]).labels == (wanted[0].in_a_line(),)


@pytest.mark.parametrize("scheme", TAGS)
def test_the_same_logits_have_the_same_answer_of_both_engines(tmp_path: Path, scheme: str) -> None:
    made, path = saved(tmp_path, scheme)
    model = load(path)
    block = model.reading.one(TEXTS[0])
    logits = model.engine.run(block)
    theirs = made.reading.one(TEXTS[0])
    answers = [
        list(each.decision.answers(logits, each.reading.read(own)))
        for each, own in ((model, block), (made, theirs))
    ]
    assert answers[0] == answers[1] == list(model.predict([TEXTS[0]]))
    np.testing.assert_allclose(made.engine.run(theirs)[0], logits[0], atol=TOLERANCE)
    np.testing.assert_allclose(made.logits(TEXTS), model.logits(TEXTS), atol=10 * TOLERANCE)
    assert made.tag(theirs.dataset).tolist() == made.decision.chosen(logits)[0].tolist()


@pytest.mark.parametrize(
    ("file", "change"),
    [
        (CONFIG, lambda config: {**config, "network": {**config["network"], "each": "text"}}),
        (CONFIG, lambda config: {**config, "network": {**config["network"], "each": 3}}),
        (CONFIG, lambda config: {**config, "model": {**config["model"], "task": "text"}}),
        (CONFIG, lambda config: {**config, "wide": 1.0}),
        (LABELS, lambda labels: labels[::-1]),
        (LABELS, lambda labels: labels[:-1]),
        (LABELS, lambda labels: [labels[0]] * len(labels)),
    ],
)
def test_a_folder_that_does_not_fit_together_is_refused(tmp_path: Path, file: str, change: object) -> None:
    _, path = saved(tmp_path)
    write_json(path / file, change(json.loads((path / file).read_text())))  # type: ignore[operator]
    write_manifest(path, MODEL_FILES)
    with pytest.raises(ArtifactError):
        load(path)
