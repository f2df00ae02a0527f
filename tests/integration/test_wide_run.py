"""A wide part beside a network: fitted in a run, saved, loaded, explained, and off by one setting."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from heedful import PairClassifier, PairScorer, TextClassifier, from_pretrained
from heedful.errors import ArtifactError, UsageError
from heedful.evaluation import fit_temperature
from heedful.explain import Explanation
from heedful.runtime import load
from heedful.storage.model_folder import (
    MODEL_FILES,
    load_tensors,
    save_tensors,
    write_json,
    write_manifest,
)
from heedful.text.wide_part import PhraseRule
from tiny import pairs, run, texts

SMALL = {"model__width": 8, "model__hidden": 8, "train__epochs": 1, "train__optimizer__lr": 0.002}
ROWS = texts()
X, Y = [text for text, _ in ROWS], [label for _, label in ROWS]


@pytest.fixture(scope="module")
def model() -> TextClassifier:
    return TextClassifier(**SMALL, model__wide="linear").fit(X[:130], Y[:130], baseline=False)


def test_it_is_added_to_the_logits_with_the_weight_of_dev(model: TextClassifier) -> None:
    predictor = model.predictor
    wide = predictor.about.wide
    assert wide is not None
    assert wide.weight > 0
    dataset, _ = predictor.encode_examples(predictor.read(X[130:]).examples)
    assert dataset.phrases is not None
    features = [dataset.phrases[row] for row in range(len(dataset))]
    alone = type(predictor)(
        predictor.network,
        predictor.model,
        predictor.vocabulary,
        predictor.labels,
        predictor.text,
        replace(predictor.about, wide=None),
    )
    np.testing.assert_allclose(
        predictor.logits(X[130:]), alone.logits(X[130:]) + wide.logits(features), atol=1e-5
    )
    assert model.score(X[130:], Y[130:]) > alone_score(alone) + 0.1
    with pytest.raises(UsageError, match="wide part"):
        predictor.run(replace(dataset, phrases=None))


def alone_score(predictor) -> float:
    best = predictor.logits(X[130:]).argmax(axis=1)
    return float(np.mean([predictor.labels[k] == gold for k, gold in zip(best, Y[130:], strict=True)]))


def test_a_text_does_not_depend_on_its_batch(model: TextClassifier) -> None:
    alone = np.concatenate([model.predict_proba([text]) for text in X[130:140]])
    np.testing.assert_allclose(model.predict_proba(X[130:140]), alone, atol=2e-6)


def test_a_saved_model_gives_the_same_and_says_what_stands_beside(
    model: TextClassifier, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path / "m")
    again = from_pretrained(tmp_path / "m")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert (
        json.loads((tmp_path / "m" / "config.json").read_text())["wide"] == model.predictor.about.wide.weight
    )
    runtime = load(tmp_path / "m")
    found = runtime.probabilities(runtime.logits(X))
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-5)


def test_an_explanation_has_signed_words_that_sum_to_the_answer(model: TextClassifier) -> None:
    said = model.explain("I found this film superb and lovely .")
    found = said.attribution
    assert found is not None
    logits = model.predictor.logits(["I found this film superb and lovely ."])[0]
    best = int(logits.argmax())
    assert said.predicted == model.predictor.labels[best] == "pos"
    odds = float(logits[best] - logits[1 - best]) / model.predictor.about.temperature
    assert found.start + found.total == pytest.approx(odds, abs=1e-6)
    share = dict(zip(said.labels, said.probabilities, strict=True))["pos"]
    assert 1 / (1 + np.exp(-found.whole)) == pytest.approx(share, abs=1e-6)
    words = dict(zip(said.sides[0].words, found.values[0], strict=True))
    assert min(words["superb"], words["lovely"]) > max(words["film"], words["this"])
    against = model.explain("a lovely room , dull dreary awful grim .").attribution
    assert against is not None
    assert against.values[0][1] < 0 < against.values[0][4]
    assert Explanation.from_dict(said.to_dict()).attribution is not None
    assert "superb" in said.to_text()


@pytest.mark.parametrize(
    "change",
    [
        {"wide.weights": torch.zeros(3, 2)},
        {"wide.numbers": torch.zeros(5)},
        {"wide.bias": torch.full((2,), torch.inf)},
        {"wide.rarity": None},
        {"wide": 0.0},
        {"wide": -1.0},
        {"wide": "much"},
        {"phrases": {"words": 99}},
    ],
)
def test_a_damaged_part_is_refused(model: TextClassifier, tmp_path: Path, change: dict[str, object]) -> None:
    folder = tmp_path / "m"
    model.save_pretrained(folder)
    (name, value), *_ = change.items()
    if name.startswith("wide."):
        tensors = load_tensors(folder / "weights.safetensors")
        del tensors[name]
        save_tensors(folder / "weights.safetensors", {**tensors, **({} if value is None else {name: value})})
    else:
        config = json.loads((folder / "config.json").read_text())
        place = config["text"] if name == "phrases" else config
        place[name] = value
        write_json(folder / "config.json", config)
    write_manifest(folder, MODEL_FILES)
    with pytest.raises(ArtifactError):
        from_pretrained(folder)


def test_where_dev_does_not_agree_there_is_none() -> None:
    trained = {
        **SMALL,
        "train__epochs": 8,
        "train__optimizer__lr": 0.02,
        "model__width": 16,
        "model__hidden": 16,
    }
    shuffled = list(X[:120])
    good = TextClassifier(**trained, model__wide="linear", data__dev_fraction=0.3).fit(
        shuffled, Y[:120], baseline=False
    )
    part = good.predictor.about.wide
    assert good.score(X[120:], Y[120:]) > 0.95
    if part is None:
        assert good.predictor.text.phrases == PhraseRule()
    without = TextClassifier(**SMALL, model__wide="none").fit(X[:60], Y[:60], baseline=False)
    assert without.predictor.about.wide is None
    assert without.predictor.encode_examples(without.predictor.read(X[:3]).examples)[0].phrases is None


def test_pairs_and_scores_have_one_too() -> None:
    rows = pairs()
    asked = [(first, second) for first, second, _ in rows]
    made = PairClassifier(**SMALL, model__wide="linear").fit(
        asked[:200], [label for *_, label in rows[:200]], baseline=False
    )
    assert np.isfinite(made.predict_proba(asked[200:230])).all()
    scorer = PairScorer(**SMALL, model__wide="linear", model__sentence="none")
    scorer.fit(asked[:200], [4.0 if label == rows[0][2] else 2.0 for *_, label in rows[:200]], baseline=False)
    assert np.isfinite(scorer.predict(asked[200:230])).all()


def test_a_run_from_the_command_line_says_and_uses_it(tmp_path: Path) -> None:
    from tiny import write_csv

    write_csv(tmp_path / "t.csv", ROWS[:130], ["text", "label"])
    write_csv(tmp_path / "e.csv", ROWS[130:], ["text", "label"])
    small = [part for k, v in SMALL.items() for part in ("--set", f"{k.replace('__', '.')}={v}")]
    done = run(
        *("train", "my-texts", "--set", f"data.train={tmp_path / 't.csv'}", "--set", "model.wide=linear"),
        *(*small, "--out", tmp_path / "run", "--no-baseline"),
    )
    assert done.code == 0, done.err
    card = (tmp_path / "run" / "model" / "README.md").read_text()
    assert "wide part" in card
    errors = [line for line in done.out.splitlines() if line.startswith("ECE ")]
    assert len(errors) == 1
    assert "temperature" not in errors[0], "it is one over the weight of the network"
    answered = run("predict", tmp_path / "run", "--text", "a superb and lovely film .")
    assert "pos" in answered.out
    explained = run("explain", tmp_path / "run", "--text", "a superb and lovely film .")
    assert "base, without words" in explained.out
    judged = run("evaluate", tmp_path / "run", "--file", tmp_path / "e.csv")
    assert judged.code in (0, 2)


def test_the_temperature_of_joined_parts_is_kept() -> None:
    """The weight of the network is one over the temperature: with it, the gold of dev is likeliest."""
    noisy = [Y[(place + 1) % len(Y)] if place % 5 == 0 else label for place, label in enumerate(Y)]
    dev = (X[100:], noisy[100:])
    model = TextClassifier(**SMALL, model__wide="linear").fit(X[:100], noisy[:100], dev=dev, baseline=False)
    predictor = model.predictor
    assert predictor.about.wide is not None or predictor.about.sentence is not None
    gold = np.array([predictor.labels.index(label) for label in dev[1]])
    wanted = fit_temperature(predictor.logits(dev[0]), gold)
    assert predictor.about.temperature == pytest.approx(wanted, rel=0.05)
    assert predictor.about.temperature != 1.0
