"""The simple models beside a training count rows by their weights, as the model beside them does."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from heedful import (
    MultiLabelClassifier,
    PairClassifier,
    PairScorer,
    TextClassifier,
    TextScorer,
    TokenTagger,
)
from heedful.baselines.board import make_board
from heedful.baselines.board_text import as_dict, render
from heedful.baselines.library_systems import FastTextBaseline
from heedful.baselines.linear import TFIDF_LOGISTIC, LinearModel
from heedful.baselines.measure import measure
from heedful.baselines.run_baselines import Beside
from heedful.baselines.splits import Split, Splits
from heedful.baselines.systems import HeedfulSystem
from heedful.run.recipe_files import load_config
from heedful.tasks.prepared import Protocol

KINDS = (TextClassifier, PairClassifier, TextScorer, PairScorer, MultiLabelClassifier, TokenTagger)
RECIPES = ("my-texts", "my-pairs", "my-numbers", "my-labels")
QUICK = {"text.vectors": "", "model.encoder": "none"}
OTHER = {"good": "bad", "bad": "good"}
UNTESTED = "no p on dev: rows count by their weights, and the tests take rows that count alike"


def rows(kind: type | str, count: int, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Return inputs and gold of which a fifth is wrong, so that no model is right of all."""
    draw = random.Random(seed)
    sides = {"good": ("fine", "lovely", "superb"), "bad": ("dull", "awful", "dreary")}
    right = [draw.choice(["good", "bad"]) for _ in range(count)]
    texts = [
        f"the {draw.choice(['film', 'book'])} was {draw.choice(sides[each])} {draw.choice('abcdefgh')}"
        for each in right
    ]
    said = [each if draw.random() < 0.8 else draw.choice(["good", "bad"]) for each in right]
    if kind in (TextScorer, PairScorer, "my-numbers"):
        gold: list[Any] = [(4.0 if each == "good" else 2.0) + draw.random() for each in said]
    elif kind in (MultiLabelClassifier, "my-labels"):
        gold = [[each, *(["film"] if "film" in text else [])] for each, text in zip(said, texts, strict=True)]
    elif kind is TokenTagger:
        gold = [["O", "O", "O", each, "O"] for each in said]
        return [text.split() for text in texts], gold
    else:
        gold = list(said)
    return [("a remark", text) for text in texts] if kind in (PairClassifier, PairScorer) else texts, gold


def fitted(kind: type, x: list[Any], y: list[Any], weights: Any = None, dev: Any = None) -> Beside:
    settings = {name.replace(".", "__"): value for name, value in QUICK.items()}
    model = kind(**settings).fit(x, y, sample_weight=weights, dev=dev)
    found = model.baseline_
    assert found is not None
    for test in found.tests["dev"].values():
        assert test.first == pytest.approx(model.result_.dev.metrics[found.metric], abs=1e-6)
    return found


def taken(values: list[Any], places: np.ndarray) -> list[Any]:
    return [values[place] for place in places]


def figures(beside: Beside) -> dict[str, float]:
    return {name: test.second for name, test in beside.tests["dev"].items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_row_of_weight_0_is_none_to_the_rivals_out_of_fold_too(kind: type) -> None:
    x, y = rows(kind, 60)
    counted = np.flatnonzero(np.arange(60) % 4)
    weights = np.where(np.arange(60) % 4, 3.0, 0.0)
    kept = fitted(kind, taken(x, counted), taken(y, counted))
    assert fitted(kind, x, y, weights).as_dict() == kept.as_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_dev_rows_count_by_their_weights(kind: type) -> None:
    """A weight of 0 is no row, and one of 3 the row three times; there is no p-value, as no test takes such rows."""
    (x, y), (own, gold) = rows(kind, 60), rows(kind, 24, 1)
    times = np.arange(24) % 4
    places = np.repeat(np.arange(24), times)
    weighted = fitted(kind, x, y, dev=(own, gold, times))
    repeated = fitted(kind, x, y, dev=(taken(own, places), taken(gold, places)))
    assert weighted.strengths == repeated.strengths
    assert figures(weighted) == pytest.approx(figures(repeated), abs=1e-6)
    assert weighted.adjusted == {"dev": {}}
    assert all(test.p is None and test.interval is None for test in weighted.tests["dev"].values())
    assert UNTESTED in weighted.render()
    assert UNTESTED in weighted._repr_html_()
    assert "count each row once" not in weighted.render()
    plain = fitted(kind, x, y, dev=(own, gold, np.full(24, 2.0)))
    assert plain.as_dict() == fitted(kind, x, y, dev=(own, gold)).as_dict()


@pytest.mark.parametrize("kind", KINDS)
def test_the_rivals_learn_what_heavy_rows_say(kind: type) -> None:
    """Each input stands there with either answer: the weights say which one counts."""
    x, y = rows(kind, 48)
    if kind in (TextScorer, PairScorer):
        wrong: list[Any] = [7.0 - each for each in y]
    elif kind is MultiLabelClassifier:
        wrong = [[OTHER[each[0]], *each[1:]] for each in y]
    elif kind is TokenTagger:
        wrong = [[OTHER.get(tag, tag) for tag in each] for each in y]
    else:
        wrong = [OTHER[each] for each in y]
    weights = np.repeat([20.0, 1.0], 48)
    heavy = fitted(kind, [*x, *x], [*y, *wrong], weights, dev=(x, y))
    light = fitted(kind, [*x, *x], [*y, *wrong], 21 - weights, dev=(x, y))
    for name, test in heavy.tests["dev"].items():
        if "cosine" not in name and "overlap" not in name:  # which read no gold, or no words
            assert test.second > light.tests["dev"][name].second + 0.1, name
            assert test.p is not None, "the dev rows count alike"


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_column_of_the_file_gives_the_rivals_the_weights(recipe: str, tmp_path: Path) -> None:
    """The figures of a test part count each row once, for the model and its rivals."""
    weights = {
        part: (np.arange(count) % 3).tolist() for part, count in (("train", 60), ("dev", 24), ("test", 24))
    }
    found = []
    for folder, dropped in (("all", False), ("kept", True)):
        (tmp_path / folder).mkdir()
        settings = [f"{name}={value}" for name, value in QUICK.items()]
        for seed, (part, own) in enumerate(weights.items()):
            drops = dropped and part != "test"
            x, y = rows({"my-pairs": PairClassifier}.get(recipe, recipe), len(own), seed)
            target = "score" if recipe == "my-numbers" else "labels" if recipe == "my-labels" else "label"
            records = []
            for text, gold, weight in zip(x, y, own, strict=True):
                pair = recipe == "my-pairs"
                texts = dict(zip(("premise", "hypothesis"), text, strict=True)) if pair else {"text": text}
                if weight or not drops:
                    records.append({**texts, target: gold, "w": weight})
            file = tmp_path / folder / f"{part}.jsonl"
            file.write_text("".join(json.dumps(record) + "\n" for record in records))
            settings.append(f"data.{part}={file}")
        command = ["train", recipe, "--out", tmp_path / folder / "run", "--json", "-q"]
        changes = ["data.options.weight=w", f"data.{'score' if recipe == 'my-numbers' else 'label'}={target}"]
        record = tiny.run(*command, *(f"--set={each}" for each in (*settings, *changes))).json()
        found.append(record["baselines"])
        for split in ("dev", "test"):
            own_figure = record[split]["metrics"][found[-1]["metric"]]
            for test in found[-1]["tests"][split].values():
                assert test["first"] == pytest.approx(own_figure, abs=1e-6)
                assert (test["p"] is None) is (split == "dev")
    everything, kept = found
    assert everything["strengths"] == kept["strengths"]
    assert everything["adjusted"] == kept["adjusted"]
    for split in ("dev", "test"):
        for name, test in everything["tests"][split].items():
            assert test["second"] == pytest.approx(kept["tests"][split][name]["second"], abs=1e-6), name


def test_a_warning_says_that_no_test_takes_weighted_rows() -> None:
    x, y = rows(TextClassifier, 60)
    beside = fitted(TextClassifier, x, y, dev=(x[:24], y[:24], np.arange(24)))
    name = next(iter(beside.strengths))
    test = beside.tests["dev"][name]
    better = type(test)(**{**vars(test), "second": 2.0, "difference": 1.0})
    found = Beside({"dev": {name: better}}, {"dev": {}}, {name: 1.0}).warning
    assert found.endswith("(rows count by their weights, and the tests take rows that count alike).")


def test_a_study_compares_dev_figures_that_count_by_the_weights(tmp_path: Path) -> None:
    found = []
    for name, dropped in (("all", False), ("kept", True)):
        folder = tmp_path / name
        folder.mkdir()
        for seed, (part, count) in enumerate((("train", 60), ("dev", 24), ("test", 24))):
            texts, labels = rows("my-texts", count, seed)
            weights = (np.arange(count) % 3).tolist()
            table = [
                row
                for row in zip(texts, labels, weights, strict=True)
                if row[2] or not dropped or part == "test"
            ]
            tiny.write_csv(folder / f"{part}.csv", table, ["text", "label", "w"])
        settings = {f"data.{part}": f"{part}.csv" for part in ("train", "dev", "test")} | QUICK
        changes = [f"--set={key}={value}" for key, value in {**settings, "data.options.weight": "w"}.items()]
        command = ["study", "my-texts", "--seeds", "1,2", "--data", folder, "--out", folder / "study"]
        found.append(tiny.run(*command, *changes, "--json", "-q").json()["baselines"]["tests"])
    for split in ("dev", "test"):
        for name, test in found[0][split].items():
            assert test["second"] == pytest.approx(found[1][split][name]["second"], abs=1e-6), name


class Counting(FastTextBaseline):
    """What stands for a library that cannot take weights."""

    def train(self, splits: Splits) -> LinearModel:  # type: ignore[override]
        return TFIDF_LOGISTIC.train(splits)


class Keeping:
    """A system that keeps the splits it is given."""

    name = "kept"

    def train(self, splits: Splits) -> LinearModel:
        self.seen = splits
        return TFIDF_LOGISTIC.train(splits)


def test_a_board_names_the_systems_that_cannot_take_weights() -> None:
    texts, labels = rows(TextClassifier, 90)
    gold = np.array([label == "good" for label in labels]).astype(np.int64)
    first, dev, test = (Split([(text,) for text in texts[a : a + 30]], gold[a : a + 30]) for a in (0, 30, 60))
    plain = Splits("text", ("bad", "good"), first, dev, test, Protocol("python", "dev"))
    weighted = replace(plain, train=replace(first, weights=np.arange(1.0, 31)))
    line = "rows have weights, but each counts once in fastText (words 1-2)"
    kept = Keeping()
    for splits, names in ((plain, ()), (weighted, ("fastText (words 1-2)",))):
        board = make_board("made up", {"train.seed=1": splits}, [kept, Counting()], own=lambda _: False)
        assert board.unweighted == names
        assert as_dict(board)["unweighted"] == list(names)
        assert (line in render(board)) is bool(names)
        assert kept.seen is splits
    assert not weighted.trains_like(plain)
    assert replace(plain, train=replace(first, weights=np.ones(30))).trains_like(plain)
    few = weighted.limited(10, seed=0)
    drawn = [texts.index(text) for (text,) in few.train.texts]
    assert few.train.weights is not None
    assert sorted(few.train.weights) == sorted(place + 1.0 for place in drawn)


def test_the_temperature_of_a_board_is_fitted_by_the_weights_of_dev() -> None:
    texts, labels = rows(TextClassifier, 90)
    gold = np.array([label == "good" for label in labels]).astype(np.int64)
    train, dev, test = (Split([(text,) for text in texts[a : a + 30]], gold[a : a + 30]) for a in (0, 30, 60))
    places = np.repeat(np.arange(30), np.arange(30) % 4)
    baseline = replace(TFIDF_LOGISTIC, grid=(1.0,))
    measured = [
        measure(baseline, Splits("text", ("bad", "good"), train, own, test, Protocol("python", "dev")))
        for own in (replace(dev, weights=(np.arange(30) % 4).astype(np.float64)), dev.take(places), dev)
    ]
    assert measured[0].ece == pytest.approx(measured[1].ece, abs=1e-4)
    assert measured[0].ece != pytest.approx(measured[2].ece, abs=1e-4)


def test_networks_of_a_board_learn_by_the_weights() -> None:
    """Each text stands there with either class: the weights say which one counts."""
    texts, labels = rows(TextClassifier, 60)
    gold = np.array([label == "good" for label in labels]).astype(np.int64)
    inputs = [(text,) for text in texts]
    train = Split([*inputs, *inputs], np.concatenate([gold, 1 - gold]), np.repeat([20.0, 1.0], 60))
    dev = Split(inputs, gold)
    config = load_config(
        "my-texts", ["data.train=x", "text.vectors=", "model.encoder=none", "data.few_rows=0"]
    )
    model = HeedfulSystem("parts", config).train(Splits("text", ("bad", "good"), train, dev, None, None))  # type: ignore[arg-type]
    assert np.mean(model.outputs(inputs).argmax(axis=1) == gold) > 0.7
