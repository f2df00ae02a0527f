"""Weights of examples: from a column of the file and from `sample_weight`, through the cache and shared batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from heedful import MultiLabelClassifier, PairClassifier, TextClassifier, TextScorer, TokenTagger
from heedful.errors import ExitCode, UsageError

FEW: dict[str, Any] = {
    "model__encoder": "embedding",
    "model__pooling": "max",
    "model__width": 8,
    "model__hidden": 8,
    "model__dropout": 0.0,
    "train__epochs": 12,
    "train__optimizer__lr": 0.05,
    "train__device": "cpu",
    "train__patience": 0,
}
WORDS = ["film", "song", "meal", "goal"]


def contradictions() -> tuple[list[str], list[str], np.ndarray]:
    """Each text once with either class; the weights say which one counts."""
    texts = [word for word in WORDS for _ in range(20)]
    labels = ["x", "y"] * 40
    heavy = [(label == "x") == (text in ("film", "meal")) for text, label in zip(texts, labels, strict=True)]
    weights = np.where(heavy, 9.0, 1.0)
    return texts, labels, weights


def test_the_heavier_of_two_contradictions_is_learned() -> None:
    texts, labels, weights = contradictions()
    few = {**FEW, "model__wide": "none"}
    dev = (texts, labels)
    model = TextClassifier(**few).fit(texts, labels, dev=dev, baseline=False, sample_weight=weights)
    assert model.predict(WORDS).tolist() == ["x", "y", "x", "y"]
    other = TextClassifier(**few).fit(texts, labels, dev=dev, baseline=False, sample_weight=10 - weights)
    assert other.predict(WORDS).tolist() == ["y", "x", "y", "x"]
    pairs = [(text, "a") for text in texts]
    both = PairClassifier(**few).fit(
        pairs, labels, dev=(pairs, labels), baseline=False, sample_weight=weights
    )
    assert both.predict([(word, "a") for word in WORDS]).tolist() == ["x", "y", "x", "y"]


def test_equal_weights_change_nothing_and_every_task_takes_them() -> None:
    texts, labels, weights = contradictions()
    few = {**FEW, "train__max_steps": 3}
    same = [
        TextClassifier(**few).fit(texts, labels, baseline=False, sample_weight=each).predict_proba(WORDS)
        for each in (None, np.full(80, 7.0))
    ]
    np.testing.assert_array_equal(*same)
    MultiLabelClassifier(**few).fit(texts, [[label] for label in labels], sample_weight=weights)
    TextScorer(**few).fit(texts, weights, sample_weight=weights)
    small = {name: value for name, value in few.items() if name not in ("model__pooling", "model__hidden")}
    tagger = TokenTagger(**{**small, "model__encoder_options": {}})
    tagger.fit([text.split() for text in texts], [[label] for label in labels], sample_weight=weights)


def test_a_column_of_the_file_holds_weights(tmp_path: Path) -> None:
    texts, labels, weights = contradictions()
    rows = list(zip(texts, labels, weights.tolist(), strict=True))
    tiny.write_csv(tmp_path / "train.csv", rows, ["text", "label", "count"])
    settings = {name.replace("__", "."): value for name, value in FEW.items()}
    settings |= {
        "data.train": "train.csv", "data.dev": "train.csv", "data.options.weight": "count", "model.wide": "none"
    }  # fmt: skip
    changes = [f"--set={name}={value}" for name, value in settings.items()]
    for name in ("first", "again"):  # the second time from the cache
        result = tiny.run(
            "train", "my-texts", "--no-baseline", "--data", tmp_path, "--out", tmp_path / name, *changes
        )
        assert result.code == 0, result.err
        asked = [part for word in WORDS for part in ("--text", word)]
        answered = tiny.run("predict", tmp_path / name, *asked).out
        assert [line.split("\t")[0] for line in answered.splitlines()] == ["x", "y", "x", "y"]


@pytest.mark.parametrize(
    ("column", "value", "part"),
    [
        ("count", "-1", "expected a number"),
        ("count", "much", "expected a number"),
        ("count", "1e31", "expected a number from 0 to 1e+30"),
        ("count", "1e-300", "expected 0, or a number from 1e-30"),
        ("weight", "1", "no column"),
    ],
)
def test_what_is_no_weight_is_named_with_its_row(tmp_path: Path, column: str, value: str, part: str) -> None:
    rows = [("a", "x", "1"), ("b", "y", value)]
    tiny.write_csv(tmp_path / "train.csv", rows, ["text", "label", "count"])
    result = tiny.run(
        "train", "my-texts", "--out", tmp_path / "run", f"--set=data.train={tmp_path / 'train.csv'}",
        f"--set=data.options.weight={column}",
    )  # fmt: skip
    assert (result.code, result.err.count("\n")) == (ExitCode.BAD_DATA, 1), result.err
    assert part in result.err


@pytest.mark.parametrize("weights", [[1.0], [-1.0] * 80, [float("nan")] * 80, [0.0] * 80])
def test_what_is_no_sample_weight_is_refused(weights: list[float]) -> None:
    texts, labels, _ = contradictions()
    with pytest.raises(UsageError, match="sample_weight"):
        TextClassifier(**FEW).fit(texts, labels, sample_weight=weights)
