"""The linear baselines beside an own run, and the warnings of a run."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful import PairScorer, TextClassifier

SMALL = {
    "model__width": 16,
    "model__hidden": 16,
    "model__sentence": "none",
    "model__wide": "none",  # linear parts would make up for what the network here is not given the time to learn
    "model__dropout": 0.3,
    "train__device": "cpu",
    "train__optimizer__lr": 0.02,
}
TEXTS, LABELS = ([row[k] for row in tiny.texts()] for k in (0, 1))
NAMES = [
    "TF-IDF (words 1-2) + logistic regression",
    "NB-SVM (words 1-2)",
    "TF-IDF (words 1-2, characters 2-5) + linear SVM",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_tasks(tmp_path_factory.mktemp("beside") / "data")


def train(data: Path, name: str, out: Path, *more: str) -> tiny.Result:
    return tiny.run(
        "train", data / f"{name}.toml", "--data", data, "--out", out, "--set", "train.device=cpu", "-q", *more
    )


@pytest.mark.parametrize("name", ["text", "pair"])
def test_training_prints_the_baselines_on_dev_and_test(name: str, data: Path, tmp_path: Path) -> None:
    record = train(data, name, tmp_path / "run", "--json").json()
    beside = record["baselines"]
    for split in ("dev", "test"):
        tests = beside["tests"][split]
        assert list(tests)[:3] == NAMES
        for test in tests.values():
            assert test["n"] == record[split]["count"]
            assert test["first"] == pytest.approx(record[split]["metrics"]["accuracy"])
            assert 0 <= test["second"] <= 1
            assert test["p"] <= beside["adjusted"][split][NAMES[0]] or test["p"] <= 1
    again = train(data, name, tmp_path / "run", "--overwrite")
    assert all(baseline in again.out for baseline in NAMES)


def test_the_model_is_the_same_without_baselines(data: Path, tmp_path: Path) -> None:
    train(data, "text", tmp_path / "with", "--set", "train.epochs=1")
    without = train(data, "text", tmp_path / "without", "--set", "train.epochs=1", "--no-baseline", "--json")
    assert without.json()["baselines"] is None
    weights = [(tmp_path / run / "model" / "weights.safetensors").read_bytes() for run in ("with", "without")]
    assert weights[0] == weights[1]


def test_a_failing_baseline_is_a_warning_and_the_run_stands(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("nothing to count")

    monkeypatch.setattr("heedful.baselines.run_baselines.trained_baselines", fail)
    record = train(data, "text", tmp_path / "run", "--set", "train.max_steps=1", "--json").json()
    assert record["baselines"] is None
    assert any("nothing to count" in warning for warning in record["warnings"])
    assert (tmp_path / "run" / "model" / "weights.safetensors").exists()


def test_of_more_rows_than_a_baseline_reads_so_many_are_drawn_and_said(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.baselines.run_baselines.MOST_EXAMPLES", 60)
    monkeypatch.setattr("heedful.baselines.run_baselines._MOST_OF", {NAMES[2]: 40})
    record = train(data, "text", tmp_path / "run", "--set", "train.max_steps=1", "--json").json()
    drawn = record["baselines"]["drawn"]
    assert drawn == {name: 40 if name == NAMES[2] else 60 for name in record["baselines"]["strengths"]}
    said = train(data, "text", tmp_path / "again", "--set", "train.max_steps=1").out
    assert f"{NAMES[2]}: trained on 40 drawn rows, not on all" in said


def test_a_baseline_that_wins_has_the_first_line(data: Path, tmp_path: Path) -> None:
    result = train(data, "text", tmp_path / "run", "--set", "train.max_steps=1")
    first = result.out.splitlines()[0]
    assert result.code == 0
    assert first.startswith("A simple baseline is more accurate")
    won = train(data, "text", tmp_path / "won", "--set", "train.epochs=12")
    assert won.out.startswith(("protocol", "warning"))


def test_scores_have_ridge_regression_overlap_and_a_cosine(data: Path, tmp_path: Path) -> None:
    record = train(data, "score", tmp_path / "run", "--json", "--set", "train.max_steps=1").json()
    beside = record["baselines"]
    assert beside["metric"] == "pearson"
    for kind in ("characters 2-5) + ridge", "overlap of the texts", "cosine"):
        assert any(kind in name for name in beside["tests"]["dev"])
    for test in beside["tests"]["dev"].values():
        assert test["first"] == pytest.approx(record["dev"]["metrics"]["pearson"])
    pairs = [(first, second) for first, second, _ in tiny.pairs()][:60]
    scorer = PairScorer(**SMALL, train__max_steps=1).fit(pairs, [1.0, 4.0] * 30)
    assert scorer.baseline_ is not None


def test_few_rows_are_compared_out_of_fold() -> None:
    model = TextClassifier().fit(TEXTS[:60], LABELS[:60])
    assert model.predictor_.model.encoder == "none"
    beside = model.baseline_
    assert beside is not None
    for test in beside.tests["dev"].values():
        assert test.n == 60
        assert test.first == model.result_.dev.metrics["accuracy"]
    assert "cross-validated accuracy" in beside.render()
    assert not beside.drawn
    assert "p by cross-validation" in beside.render()
    assert "on dev" not in beside.warning


@pytest.mark.parametrize(("vary", "runs"), [("--seeds", "1,2"), ("--folds", "2")])
def test_a_study_has_them_beside_its_runs(vary: str, runs: str, tmp_path: Path) -> None:
    folder = (
        tiny.write_polarity(tmp_path / "data", 120)
        if vary == "--folds"
        else tiny.write_tasks(tmp_path / "data")
    )
    recipe = folder / ("polarity.toml" if vary == "--folds" else "text.toml")
    small = ["--set", "train.device=cpu", "--set", "train.epochs=2", "-q"]
    command = ["study", recipe, vary, runs, "--data", folder, "--out", tmp_path / "study", *small]
    record = tiny.run(*command, "--json").json()
    test = record["baselines"]["tests"]["test"]
    assert list(test)[:3] == NAMES
    for found in test.values():
        assert found["first"] == pytest.approx(record["mean"]["accuracy"][0])
        assert found["unit"] == "examples"
    assert all(found["unit"] == "runs" for found in record["baselines"]["tests"]["dev"].values())
    assert NAMES[0] in tiny.run(*command).out
    assert NAMES[0] not in tiny.run(*command, "--no-baseline").out


def test_the_estimator_keeps_and_logs_the_comparison(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "heedful"):
        model = TextClassifier(**SMALL, train__max_steps=1).fit(TEXTS[:120], LABELS[:120])
    beside = model.baseline_
    assert beside is not None
    assert beside.better
    assert beside.warning in caplog.messages
    assert beside.better in beside._repr_html_()
    json.dumps(beside.as_dict())
    plain = TextClassifier(**SMALL, train__max_steps=1).fit(TEXTS[:120], LABELS[:120], baseline=False)
    assert plain.baseline_ is None
    np.testing.assert_array_equal(plain.predict_proba(TEXTS[120:]), model.predict_proba(TEXTS[120:]))


def warned(
    caplog: pytest.LogCaptureFixture,
    texts: list[str],
    labels: list[str],
    dev: tuple[list[str], list[str]] | None = None,
    **more: object,
) -> str:
    caplog.clear()
    with caplog.at_level(logging.WARNING, "heedful"):
        TextClassifier(**{**SMALL, **more}).fit(texts, labels, dev=dev, baseline=False)
    return "\n".join(record.message for record in caplog.records)


def test_what_a_person_should_know_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    rare = ["odd" if k % 12 == 0 else label for k, label in enumerate(LABELS[:120])]
    assert "never predicts 'odd'" in warned(
        caplog, TEXTS[:120], rare, train__max_steps=6, data__dev_fraction=0.4
    )
    joined = [text.replace(" ", "") for text in TEXTS[:60]]
    said = warned(caplog, joined, LABELS[:60], train__max_steps=2, text__tokenizer="whitespace")
    assert "single token" in said
    assert "unknown" in said
    contrary = (TEXTS[120:], [{"pos": "neg", "neg": "pos"}[label] for label in LABELS[120:]])
    assert "first epoch" in warned(caplog, TEXTS[:120], LABELS[:120], contrary, train__epochs=4)
    assert warned(caplog, TEXTS[:160], LABELS[:160], train__epochs=6) == ""


def test_a_score_that_stays_as_good_as_in_the_first_epoch_did_not_get_worse(
    caplog: pytest.LogCaptureFixture,
) -> None:
    texts, labels = (
        ["good plot and fine acting", "dull plot and poor acting"] * 20,
        ["positive", "negative"] * 20,
    )
    assert "got worse" not in warned(caplog, texts, labels, train__epochs=3)
