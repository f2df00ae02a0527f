"""Weights of examples reach every part of a model and every choice, for every task, from Python and from files."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.validation import has_fit_parameter

import tiny
from heedful import (
    LabelColumnsClassifier,
    MultiLabelClassifier,
    PairClassifier,
    PairScorer,
    TextClassifier,
    TextScorer,
    TokenTagger,
)
from heedful.data.readers.tag_files import read_tags
from heedful.errors import UsageError
from heedful.estimators.sentence_estimator import SentenceEstimator
from heedful.run import prepare, train
from heedful.run.recipe_files import load_config

SIDES = {"good": ("fine", "lovely", "superb"), "bad": ("dull", "awful", "dreary")}
NETWORK = {
    "train__max_steps": 40,
    "train__epochs": 0,
    "train__optimizer__lr": 0.02,
    "model__encoder": "embedding",
    "model__width": 8,
    "model__hidden": 8,
}
"""A network beside the parts; by default so few rows have parts alone."""
MODES = [{}, NETWORK]
SMALL_TAGGER = {
    name: value for name, value in NETWORK.items() if name not in ("model__encoder", "model__hidden")
}
PAIRED = (PairClassifier, PairScorer)
ESTIMATORS = (TextClassifier, PairClassifier, MultiLabelClassifier, TextScorer, PairScorer)
RECIPES = {
    TextClassifier: "my-texts",
    PairClassifier: "my-pairs",
    MultiLabelClassifier: "my-labels",
    TextScorer: "my-numbers",
    PairScorer: "my-scores",
}


@pytest.mark.parametrize(
    ("recipe", "estimator"),
    [
        *((recipe, kind()) for kind, recipe in RECIPES.items()),
        ("my-pair-numbers", PairScorer(model__task="pair-number")),
        ("my-tags", TokenTagger()),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_recipe_for_own_data_and_its_estimator_have_the_same_settings(recipe: str, estimator: Any) -> None:
    columns = dict.fromkeys(("text", "premise", "hypothesis", "label", "score"), "")
    config = load_config(recipe)
    plain = replace(config, name="", data=replace(config.data, options={}, **columns))
    assert plain == estimator.config


def rows(count: int, seed: int) -> list[tuple[str, str]]:
    """Return texts and what is right of them."""
    draw = random.Random(seed)
    right = [draw.choice(["good", "bad"]) for _ in range(count)]
    return [
        (
            f"the {draw.choice(['film', 'book', 'play'])} was {draw.choice(SIDES[each])} on {draw.choice('abcdefgh')}",
            each,
        )
        for each in right
    ]


def answers(kind: type, right: list[str]) -> list[object]:
    """Return gold in the form that an estimator takes."""
    if kind is MultiLabelClassifier:
        return [[each] for each in right]
    if kind in (TextScorer, PairScorer):
        return [4.0 if each == "good" else 2.0 for each in right]
    return list(right)


def premise(kind: type, text: str) -> str:
    """Return what stands before a text: grades of relatedness are of two texts, which share words or not."""
    if kind is not PairScorer:
        return "a remark"
    return text if any(word in text.split() for word in SIDES["good"]) else "nobody else came along"


def inputs(kind: type, texts: list[str]) -> list[object]:
    return [(premise(kind, text), text) for text in texts] if kind in PAIRED else list(texts)


def weighted() -> tuple[list[str], list[str], np.ndarray]:
    """Return texts of which two thirds have the wrong label at weight 1, and one third the right one at weight 50."""
    examples = rows(150, 0)
    heavy = [number % 3 == 0 for number in range(len(examples))]
    other = {"good": "bad", "bad": "good"}
    labels = [each if sure else other[each] for (_, each), sure in zip(examples, heavy, strict=True)]
    return [text for text, _ in examples], labels, np.where(heavy, 50.0, 1.0)


def right_share(
    kind: type, predicted: np.ndarray, right: list[str], classes: list[str] | None = None
) -> float:
    if kind is MultiLabelClassifier:
        assert classes is not None
        wanted = np.array([[each == name for name in classes] for each in right])
        return float((np.asarray(predicted, bool) == wanted).all(axis=1).mean())
    if kind in (TextScorer, PairScorer):
        return float(((np.asarray(predicted) > 3) == np.array([each == "good" for each in right])).mean())
    return float((np.asarray(predicted) == np.array(right)).mean())


@cache
def parts_alone(kind: type) -> SentenceEstimator:
    """Return an estimator of linear parts alone, fitted to examples of which few but heavy ones are right."""
    texts, labels, weights = weighted()
    return kind().fit(inputs(kind, texts), answers(kind, labels), sample_weight=weights, baseline=False)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("settings", MODES)
@pytest.mark.parametrize("dev", [False, True])
def test_heavy_examples_win_from_python(kind: type, settings: dict[str, object], dev: bool) -> None:
    if settings or dev:
        texts, labels, weights = weighted()
        x, y = inputs(kind, texts), answers(kind, labels)
        held = (x, y, weights) if dev else None
        model = kind(**settings).fit(x, y, sample_weight=weights, dev=held, baseline=False)
    else:
        model = parts_alone(kind)
    test = rows(60, 1)
    right = [each for _, each in test]
    predicted = model.predict(inputs(kind, [text for text, _ in test]))
    classes = model.classes_.tolist() if kind is MultiLabelClassifier else None
    assert right_share(kind, predicted, right, classes) >= (0.85 if settings or dev else 1.0)
    about = model.predictor_.about
    assert settings or about.wide is not None or about.sentence is not None


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("changed", MODES)
def test_heavy_examples_win_from_a_file(kind: type, changed: dict[str, object], tmp_path: Path) -> None:
    texts, labels, weights = weighted()
    gold = answers(kind, labels)
    names = ("premise", "hypothesis") if kind in PAIRED else ("text",)
    column = "score" if kind in (TextScorer, PairScorer) else "label"
    with (tmp_path / "train.jsonl").open("w") as file:
        for text, target, weight in zip(texts, gold, weights.tolist(), strict=True):
            own = (premise(kind, text), text) if kind in PAIRED else (text,)
            file.write(json.dumps({**dict(zip(names, own, strict=True)), column: target, "w": weight}) + "\n")
    settings = [f"{name.replace('__', '.')}={value}" for name, value in changed.items()]
    config = load_config(
        RECIPES[kind],
        [f"data.train={tmp_path / 'train.jsonl'}", "data.options.weight=w", *settings],
    )
    result = train(config, prepare(config, None, tmp_path / "cache"))
    model = result.predictor
    assert (model.model.encoder == "none") == (not changed)
    metric = config.train.metric
    assert result.dev.metrics[metric] > 0.5, "what is measured counts by the weights too"
    test = rows(60, 1)
    right = [each for _, each in test]
    found = model.answer(inputs(kind, [text for text, _ in test]))
    if kind is MultiLabelClassifier:
        predicted = [[name in each.labels for name in model.labels] for each in found]
    else:
        predicted = [each.label if column == "label" else each.score for each in found]
    assert right_share(kind, np.array(predicted), right, list(model.labels)) >= (0.85 if changed else 1.0)


def tagged() -> tuple[list[list[str]], list[list[str]], np.ndarray]:
    """Return sentences of which two thirds have a wrong tag at weight 1, and one third the right one at weight 50."""
    texts, _, weights = weighted()
    words, weights = [text.split() for text in texts[:60]], weights[:60]
    right = [{"film": "thing", "book": "thing", "play": "thing"} for _ in words]
    tags = [
        [("thing" if weight > 1 else "other") if word in names else "O" for word in own]
        for own, names, weight in zip(words, right, weights, strict=True)
    ]
    return words, tags, weights


def share_of_things(model: TokenTagger) -> float:
    words = [text.split() for text, _ in rows(60, 1)]
    return float(np.mean([own[1] == "thing" for own in model.predict(words)]))


@pytest.mark.parametrize("settings", [{}, {"data__few_rows": 0, **SMALL_TAGGER}])
def test_heavy_sentences_win(settings: dict[str, object]) -> None:
    words, tags, weights = tagged()
    model = TokenTagger(**settings).fit(words, tags, sample_weight=weights, baseline=False)
    assert model.predictor_.about.tagging is not None
    assert share_of_things(model) >= 0.9


def test_heavy_sentences_win_from_a_file(tmp_path: Path) -> None:
    words, tags, weights = tagged()
    records = [
        {"tokens": own, "tags": each, "w": weight}
        for own, each, weight in zip(words, tags, weights.tolist(), strict=True)
    ]
    file = tmp_path / "train.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    config = load_config("my-tags", [f"data.train={file}", "data.options.weight=w"])
    found = train(config, prepare(config, None, tmp_path / "cache"))
    right = [
        answer.tags[1] == "thing" for answer in found.predictor.answer([text for text, _ in rows(60, 1)])
    ]
    assert np.mean(right) >= 0.9
    assert found.dev.metrics["accuracy"] > 0.9, "what is measured counts by the weights too"
    (tmp_path / "train.conll").write_text("a\tO\nfilm\tthing\n")
    with pytest.raises(UsageError, match=r"is a field of a \.jsonl file"):
        read_tags(tmp_path / "train.conll", weight="w")


QUICK = {"text__vectors": "", "model__sentence": "none"}
LEARNED = {**QUICK, **NETWORK, "train__max_steps": 8, "train__evaluate_every": 2, "data__few_rows": 0}
BY_COST = {"model__task_options": {"thresholds": "cost", "false_negative": 4.0}}


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        *((kind, QUICK) for kind in (*ESTIMATORS, LabelColumnsClassifier)),
        (TokenTagger, {"text__vectors": ""}),
        (TextClassifier, {**LEARNED, "model__task_options": {"costs": {"good": 5}}}),
        (TextClassifier, {**LEARNED, "model__wide": "none", "model__task_options": {"costs": {"good": 5}}}),
        (TextClassifier, {**LEARNED, "train__class_weights": {"good": 3.0}}),
        (MultiLabelClassifier, {**QUICK, **BY_COST}),
        (MultiLabelClassifier, {**LEARNED, "model__wide": "none", **BY_COST}),
        (MultiLabelClassifier, {**QUICK, "model__task_options": {"thresholds": "one"}}),
    ],
)
def test_a_weight_of_2_in_dev_is_the_example_twice_and_0_is_none(
    kind: type, settings: dict[str, Any]
) -> None:
    """All that dev chooses, and its figures: settings and weights of parts, checkpoint, temperature, thresholds."""
    draw = random.Random(4)
    texts, labels = map(list, zip(*rows(60, 2), strict=True))
    labels = [each if draw.random() < 0.8 else draw.choice(["good", "bad"]) for each in labels]
    if kind is TokenTagger:
        x: list[Any] = [text.split() for text in texts]
        y: list[Any] = [[label, *["O"] * (len(own) - 1)] for own, label in zip(x, labels, strict=True)]
    elif kind is LabelColumnsClassifier:
        x, y = (
            texts,
            [{"how": label, "what": text.split()[1]} for text, label in zip(texts, labels, strict=True)],
        )
    else:
        x, y = inputs(kind, texts), answers(kind, labels)
    counted = np.arange(24) % 3
    again = [place for place, count in zip(range(24), counted, strict=True) for _ in range(count)]
    weighted, repeated = (
        kind(**settings).fit(x[24:], y[24:], dev=dev, baseline=False)
        for dev in ((x[:24], y[:24], counted), ([x[n] for n in again], [y[n] for n in again]))
    )
    asked = x[:24]
    for one, other in zip(weighted.answer(asked), repeated.answer(asked), strict=True):
        for name in ("label", "labels", "tags"):
            assert getattr(one, name, None) == getattr(other, name, None)
        assert (getattr(one, "score", None) or 0) == pytest.approx(getattr(other, "score", None) or 0)
    first, second = weighted.result_.dev.metrics, repeated.result_.dev.metrics
    assert first == pytest.approx({name: second[name] for name in first}, abs=1e-4)
    assert weighted.result_.fit.best_step == repeated.result_.fit.best_step


@pytest.mark.parametrize("kind", [TextClassifier, MultiLabelClassifier, TextScorer])
def test_an_example_of_weight_0_is_none_and_equal_weights_are_no_weights(kind: type) -> None:
    """To the last bit: vocabulary, folds, strengths and all that is learned."""
    texts, labels = map(list, zip(*rows(48, 5), strict=True))
    y, counted = answers(kind, labels), np.arange(48) % 4 > 0
    kept = np.flatnonzero(counted).tolist()
    weighted, without, equal = (
        kind(**QUICK).fit([texts[n] for n in own], [y[n] for n in own], sample_weight=weights, baseline=False)
        for own, weights in ((range(48), counted * 0.1), (kept, None), (kept, np.full(len(kept), 1e30)))
    )
    expected = without.predictor.logits(texts)
    np.testing.assert_array_equal(weighted.predictor.logits(texts), expected)
    np.testing.assert_array_equal(equal.predictor.logits(texts), expected)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_scikit_learn_finds_the_weights(kind: type) -> None:
    assert has_fit_parameter(kind, "sample_weight")
    assert has_fit_parameter(kind(), "sample_weight")


def test_every_score_takes_weights() -> None:
    for kind in ESTIMATORS:
        texts, labels, weights = weighted()
        x, y = inputs(kind, texts), answers(kind, labels)
        model = parts_alone(kind)
        heavy = model.score(x, y, sample_weight=weights)
        assert heavy > model.score(x, y) + 0.1
        assert model.score(x, y, sample_weight=np.ones(len(x))) == pytest.approx(model.score(x, y))


def overlapping() -> tuple[list[str], list[str]]:
    """Return texts of which a fifth is good, and a word that tells little: no part answers "good" for many of them."""
    draw, texts = random.Random(0), []
    labels = ["good" if number % 5 == 0 else "bad" for number in range(240)]
    for label in labels:
        words = ["sign"] * (3 if label == "good" else 1) + ["film", "story", "meal", "room", "the"]
        texts.append(" ".join(draw.choice(words) for _ in range(4)))
    return texts, labels


@pytest.mark.parametrize("kind", [TextClassifier, PairClassifier])
@pytest.mark.parametrize("settings", MODES)
def test_weights_of_classes_reach_every_part_from_python_and_from_a_file(
    kind: type, settings: dict[str, object], tmp_path: Path
) -> None:
    texts, labels = overlapping()
    given = {"model__sentence": "none", **settings, **({"data__few_rows": 0} if settings else {})}
    x = [("a remark", text) for text in texts] if kind is PairClassifier else texts
    model = kind(**given, train__class_weights={"good": 20.0}).fit(x, labels, baseline=False)
    assert np.mean(model.predict(x) == "good") > 0.4, "all weights alike, a twelfth of the texts at most"
    names = ("premise", "hypothesis", "label") if kind is PairClassifier else ("text", "label")
    rows = [
        (*each, label) if kind is PairClassifier else (each, label)
        for each, label in zip(x, labels, strict=True)
    ]
    file = tiny.write_csv(tmp_path / "train.csv", rows, names)
    changes = [f"{name.replace('__', '.')}={value}" for name, value in given.items()]
    config = load_config(RECIPES[kind], [f"data.train={file}", *changes, "train.class_weights.good=20"])
    found = train(config, prepare(config, None, tmp_path / "cache")).predictor.answer(x)
    assert np.mean([each.label == "good" for each in found]) > 0.4


@pytest.mark.parametrize("kind", [MultiLabelClassifier, TextScorer, PairScorer, TokenTagger])
@pytest.mark.parametrize(
    "option", [{"train__class_weights": {"good": 2.0}}, {"train__class_weight": "balanced"}]
)
def test_a_task_without_classes_refuses_their_weights(kind: type, option: dict[str, object]) -> None:
    examples = inputs(kind, ["a film", "a meal"] * 9)
    x = [str(text).split() for text in examples] if kind is TokenTagger else examples
    y = [["O", "X"]] * 18 if kind is TokenTagger else answers(kind, ["good", "bad"] * 9)
    with pytest.raises(UsageError, match=r"train\.class_weight.* is not used by a task of"):
        kind(**option).fit(x, y)
