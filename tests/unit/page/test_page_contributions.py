"""What each word contributes, computed in the page: it adds up, and is what the runtime says of the same numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny
from browsing import Opened
from heedful.explain.explainer import explain
from heedful.models import ModelConfig
from heedful.runtime import load
from heedful.runtime.encoder_states import EncoderStates, content_of_encoder
from heedful.runtime.loading import encoder_of_content
from heedful.runtime.pair_features import ExampleFeatures
from heedful.runtime.sentence_features import JoinedFeatures, MeanOfVectors, SentenceFeatures
from heedful.runtime.sentence_part import SentencePart
from heedful.storage.shared_rows import SharedRows
from heedful.tasks import TextSettings, VectorModel, build_network, task_named
from heedful.text.unknown_words import NgramRule
from heedful.text.vocabulary import Vocabulary
from heedful.text.wide_part import WIDE, PhraseRule, WidePart

WORDS = ("the", "film", "was", "dull", "fine", "plot", "not", "good")
ROWS = np.random.default_rng(7).integers(-127, 128, (8, 5)).astype(np.int8)
MEAN = MeanOfVectors(SharedRows(WORDS, ROWS, np.full(8, 0.01, np.float32)), "films\tfilm\n")
RULE = PhraseRule(*WIDE)
TEXTS = ["The films was not good", "", "unseen", "a fine plot , not dull and the film was good : a fine film"]
PAIRS = [("the film was dull", "The film was not good"), ("", "film"), (TEXTS[3], "dull film")]


def states(path: Path, *, spelled: bool) -> EncoderStates:
    """The states of a tiny sentence encoder in 8 bits, kept by the model that reads them."""
    rule = NgramRule(rows=30, unknown_alone=True) if spelled else None
    vocabulary = Vocabulary(WORDS, oov="unknown" if spelled else "nearest", ngrams=rule)
    torch.manual_seed(1)
    config = ModelConfig(task="vector", width=10, outputs=4, dropout=0.0)
    table, ngrams = torch.randn(len(WORDS) + 2, 10), torch.randn(30, 10) if spelled else None
    network = build_network(config, table, ngrams=ngrams)
    VectorModel(network, config, vocabulary, (), TextSettings()).save(path)
    assert tiny.run("export", path, "--int8", path.with_name("int8")).code == 0
    content = content_of_encoder(path.with_name("int8"))
    return EncoderStates("", "", encoder_of_content(content), content)


def saved(path: Path, task: str, encoder: str = "embedding", texts: SentenceFeatures = MEAN) -> Path:
    config = ModelConfig(task=task, width=8, hidden=6, outputs=3, encoder=encoder)
    torch.manual_seed(3)
    network = build_network(config, torch.randn(10, 8), torch.randn(0, 8))
    labels = () if task == "relatedness" else ("a", "b", "c")
    made = task_named(task).model_type(network, config, Vocabulary(WORDS), labels, TextSettings())
    pairing = {"text": "none", "pair": "ordered", "relatedness": "symmetric"}[task]
    features, draw = ExampleFeatures(texts, pairing), np.random.default_rng(5)  # type: ignore[arg-type]
    weights = draw.standard_normal((features.width, 3)).astype(np.float32)
    sentence = SentencePart(features, weights, np.array([0.5, 0, -0.5], np.float32), 0.7)
    numbers = np.unique(np.concatenate([RULE.numbers(TEXTS[0].split(), side) for side in (0, 1)]))
    wide = WidePart(
        RULE,
        numbers,
        (1 + draw.random(len(numbers))).astype(np.float32),
        draw.standard_normal((len(numbers), 3)).astype(np.float32),
        np.ones(3, np.float32),
        0.6,
    )
    temperature = 1.0 if task == "relatedness" else 1.7
    made.about = replace(made.about, wide=wide, sentence=sentence, temperature=temperature)
    made.text = replace(made.text, phrases=RULE, keeps_words=True)
    made.save(path)
    return path


@pytest.mark.parametrize(
    ("task", "encoder", "reads"),
    [
        ("text", "embedding", "mean"),
        ("pair", "embedding", "mean"),
        ("relatedness", "embedding", "mean"),
        ("text", "none", "both"),
        ("pair", "embedding", "states"),
    ],
)
def test_it_adds_up_and_is_what_the_runtime_says(
    task: str, encoder: str, reads: str, tmp_path: Path, opened: Opened
) -> None:
    features: SentenceFeatures = MEAN
    if reads != "mean":
        features = states(tmp_path / "encoder", spelled=reads == "states")
    texts = JoinedFeatures((MEAN, features)) if reads == "both" else features
    path = saved(tmp_path / "model", task, encoder, texts)
    for target in (["--page", tmp_path / "model.html"], ["--int8", tmp_path / "small"]):
        result = tiny.run("export", path, *target)
        assert result.code == 0, result.err
    requests: list[Any] = TEXTS if task == "text" else PAIRS
    page, model = opened(tmp_path / "model.html"), load(tmp_path / "small")
    said = page.evaluate(
        "async (asked) => { const model = await heedful; return asked.map((texts) => [model.predict(texts), "
        "model.explain(texts)].map((each, i) => (i ? each : [each.score, each.logits, each.probabilities]))); }",
        [[each] if isinstance(each, str) else list(each) for each in requests],
    )
    for request, ((score, logits, probabilities), found) in zip(requests, said, strict=True):
        theirs = explain(model, request)
        assert logits == pytest.approx(model.logits([request])[0], abs=1e-4)
        assert theirs.attribution is not None
        for mine, other in zip(found, (theirs.attribution, *theirs.others), strict=True):
            total = mine["start"] + sum(sum(side) for side in mine["values"])
            shares = {each["label"]: each["probability"] for each in probabilities}
            share = shares.get(mine["label"], 0.0)
            shown = score if task == "relatedness" else np.log(share / (1 - share))
            assert total == pytest.approx(shown, abs=1e-6)
            assert mine["whole"] == pytest.approx(other.whole, abs=1e-3)
            assert mine["choices"] == other.samples
            assert mine["start"] == pytest.approx(other.start, abs=1e-3)
            links = [(each["first"], each["second"]) for each in mine["across"]]
            assert [each["value"] for each in mine["across"]] == pytest.approx(
                [each.value for each in other.across], abs=1e-3
            )
            strong = [abs(each.value) > 0.01 for each in other.across]
            theirs_linked = [(each.first, each.second) for each in other.across]
            assert all(links[n] in theirs_linked for n, said in enumerate(strong) if said)
            for values, wanted in zip(mine["values"], other.values, strict=True):
                assert values == pytest.approx(wanted.tolist(), abs=1e-3)
        assert theirs.attribution.total == pytest.approx(
            theirs.attribution.whole - theirs.attribution.start, abs=1e-9
        )


def test_what_one_types_is_colored_and_the_lines_add_up(tmp_path: Path, opened: Opened) -> None:
    assert tiny.run("export", saved(tmp_path / "model", "text"), "--page", tmp_path / "model.html").code == 0
    page = opened(tmp_path / "model.html")
    page.fill("textarea", TEXTS[3])
    page.wait_for_selector("#contributions table")
    assert page.locator("#reading bdi[title^=contribution]").count() == 15
    figures = page.locator("#contributions > section > div > table tr:not(.sum) td.r").all_inner_texts()
    total = page.locator("#contributions > section > div > table tr.sum td.r").inner_text()
    assert "%" in total
    assert sum(map(float, figures)) == pytest.approx(float(total.split("=")[0]), abs=0.01 * len(figures))
    assert page.locator("#pictures details").get_attribute("open") is None


def test_of_several_labels_all_that_are_answered_are_asked_why(tmp_path: Path, opened: Opened) -> None:
    from heedful import MultiLabelClassifier

    rows = tiny.texts()[:100]
    gold = [[label, "film"] if "film" in text else [label] for text, label in rows]
    plain = MultiLabelClassifier(text__vectors="", model__sentence="none")
    plain.fit([text for text, _ in rows], gold, baseline=False).save_pretrained(tmp_path / "model")
    done = tiny.run("export", tmp_path / "model", "--page", tmp_path / "labels.html")
    assert done.code == 0, done.err
    page = opened(tmp_path / "labels.html")
    page.fill("textarea", "I found this film lovely .")
    page.wait_for_selector("#contributions table")
    assert page.inner_text("#headline").startswith("pos, film2 of 3")
    shown = page.eval_on_selector_all(
        "#contributions h2, #contributions summary", "all => all.map(each => each.textContent)"
    )
    assert [each.partition("”")[0] for each in shown] == ["Why “pos", "Why “film", "Why not “neg"]
    assert page.title() == "Linear model"
    assert "where the network looked" not in page.inner_text("footer")
