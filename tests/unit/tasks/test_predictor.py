"""Strings in, answers out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful.data.examples import Corpus, Example
from heedful.errors import ArtifactError, DataError, UsageError
from heedful.models import ModelConfig
from heedful.storage.manifest import MODEL_FILES, write_json, write_manifest
from heedful.storage.model_folder import CONFIG
from heedful.tasks import Answer, Predictor, TextSettings, build_network, load_model, model_folder, task_named
from heedful.text.vocabulary import Vocabulary


def predictor(task: str = "text", **text: object) -> Predictor:
    vocabulary = Vocabulary(("film", "dull", "superb", "."))
    model = ModelConfig(task=task, width=8, hidden=8, outputs=3)  # type: ignore[arg-type]
    torch.manual_seed(4)
    network = build_network(model, torch.randn(6, 8) * torch.tensor([0, 0, 1, 1, 1, 1])[:, None])
    labels = () if task == "relatedness" else ("a", "b", "c")
    return task_named(task).model_type(network, model, vocabulary, labels, TextSettings(**text))


def test_answers_come_in_order_whatever_the_lengths() -> None:
    model = predictor(eval_size=2)
    texts = ["film", "superb film . film . film", "", "dull", "film . . dull"]
    read = list[int]()
    hook = model.network.sentence_encoder.register_forward_pre_hook(
        lambda _, given: read.append(given[0].ids.shape[1])
    )
    together = model.answer(texts)
    hook.remove()
    assert read == [6, 4, 1], "the longest first: memory does not grow with every length"
    alone = [model.answer([text])[0] for text in texts]
    assert [answer.label for answer in together] == [answer.label for answer in alone]
    assert [answer.tokens for answer in together] == [(1,), (6,), (0,), (1,), (4,)]
    for one, other in zip(together, alone, strict=True):
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-6)


def test_an_answer_says_what_was_not_understood() -> None:
    answers = predictor(max_tokens=2, truncate="head").answer(["zzz film dull yyy", "", "film"])
    assert [(a.unknown, a.truncated, a.empty) for a in answers] == [
        (1, True, False),
        (0, False, True),
        (0, False, False),
    ]
    assert [a.remarks for a in answers] == [
        "1 of 2 words unknown, cut to 2 words",
        "text without words",
        "",
    ]


def test_relatedness_answers_with_grades() -> None:
    answer = predictor("relatedness").answer([("film", "dull film")])[0]
    assert answer.label is None
    assert list(answer.probabilities) == ["1", "2", "3"]
    assert answer.score == pytest.approx(sum(int(k) * p for k, p in answer.probabilities.items()))


def test_an_answer_is_plain_json() -> None:
    for task, request in (("text", "film"), ("pair", ("film", "dull")), ("relatedness", ("film", ""))):
        answer = predictor(task).answer([request])[0]
        assert Answer(**{**json.loads(json.dumps(answer.as_dict())), "tokens": answer.tokens}) == answer
        explanation = predictor(task).explain(request)
        assert json.loads(json.dumps(explanation.to_dict()))["labels"]


def test_no_requests_give_no_answers() -> None:
    assert predictor().answer([]) == []
    assert predictor().encode([]).shape == (0, 16)


def test_a_file_keeps_its_rows_in_messages() -> None:
    corpus = Corpus([Example(("film",), row=7), Example(("film film film",), row=9)], source=Path("a.csv"))
    with pytest.raises(DataError, match=r"a\.csv: row 9, text: 3 tokens"):
        predictor(max_tokens=2).answer(corpus)


def test_explain_wants_exactly_one() -> None:
    with pytest.raises(UsageError, match="one input at a time; got 2"):
        predictor().explain(Corpus([Example(("film",)), Example(("dull",))]))


def test_the_deletion_test_is_left_out_when_not_wanted() -> None:
    text, method = "superb film . dull", "occlusion"
    assert predictor().explain(text, method=method).faithfulness is not None
    assert predictor().explain(text, method=method, faithfulness=False).faithfulness is None


def test_limits_are_changed_on_a_copy() -> None:
    model = predictor()
    assert model.limited(None, None).text == model.text
    assert model.limited(3, "head").text == replace(model.text, max_tokens=3, truncate="head")
    assert model.text.max_tokens == 400


def test_a_text_without_words_is_the_zero_vector() -> None:
    vectors = predictor().encode(["film", "", "   "])
    assert vectors.dtype == np.float32
    assert not vectors[1:].any()
    assert vectors[0].any()


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    predictor().save(tmp_path / "run" / "model")
    assert model_folder(tmp_path / "run") == tmp_path / "run" / "model"
    assert load_model(tmp_path / "run").labels == ("a", "b", "c")
    path = tmp_path / "run" / "model"
    config = json.loads((path / CONFIG).read_text())
    for change, what in (
        ({"width": 9}, r"do not belong together.*'head\.|do not belong together.*'sentence_encoder\."),
        ({"encoder": "other"}, r"config\.json: model\.encoder="),
        ({"no_such": 1}, r"config\.json: model\.no_such"),
    ):
        write_json(path / CONFIG, {**config, "model": {**config["model"], **change}})
        write_manifest(path, MODEL_FILES)
        with pytest.raises(ArtifactError, match=what):
            load_model(path)


@pytest.mark.parametrize("encoder", ["disan", "decomposable"])
def test_a_text_is_read_once_however_many_pairs_have_it(
    encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = Vocabulary(("film", "dull", "superb", "."))
    config = ModelConfig(task="pair", encoder=encoder, width=8, hidden=8, outputs=3)
    torch.manual_seed(4)
    network = build_network(config, torch.randn(6, 8))
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model = Predictor(network, config, vocabulary, ("a", "b", "c"), TextSettings(eval_size=4))
    pairs = [
        (first, second) for first in ("film", "dull film .") for second in ("superb", "film", "", "dull .")
    ]
    alone = np.concatenate([model.logits([pair]) for pair in pairs])
    read: list[int] = []
    of_ids = type(network.sentence_encoder.embedding).embed

    def counting(self, sentences):  # type: ignore[no-untyped-def]
        read.append(int(sentences.valid.sum()))
        return of_ids(self, sentences)

    monkeypatch.setattr(type(network.sentence_encoder.embedding), "embed", counting)
    np.testing.assert_allclose(model.logits(pairs), alone, atol=2e-6)
    once = {"film", "dull film .", "superb", "", "dull ."}
    most = 2 if encoder == "decomposable" else 1  # once a batch, of which there are two
    assert sum(read) <= most * sum(len(text.split()) for text in once)
