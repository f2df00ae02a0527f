"""A number of any range for a text or a pair: trained, saved, answered, measured and explained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import heedful
import tiny
from heedful import PairScorer, TextScorer
from heedful.errors import ExitCode, UsageError
from heedful.evaluation.metrics import number_metrics
from heedful.tasks import NumberModel, load_model

WORTH = {"film": 100.0, "story": 300.0, "meal": 20.0, "song": 5.0}
FEW = {
    "model__encoder": "embedding",
    "model__pooling": "max",
    "model__width": 16,
    "model__hidden": 16,
    "train__epochs": 25,
    "train__patience": 0,
    "train__optimizer__lr": 0.02,
    "train__device": "cpu",
}
REPEATED = {**FEW, "data__dev_fraction": 0.4}
"""For texts that repeat: copies stay on one side, so that a small dev split has two or three distinct ones."""


def numbers(count: int = 240) -> tuple[list[str], list[float]]:
    """Texts, and the sum of what their words are worth, far from zero."""
    random = np.random.default_rng(0)
    texts = [[str(word) for word in random.choice(list(WORTH), 2, replace=False)] for _ in range(count)]
    return [f"a {one} and a {two}" for one, two in texts], [1e4 + WORTH[a] + WORTH[b] for a, b in texts]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("numbers")
    texts, values = numbers()
    for name, part in (("train", slice(0, 200)), ("test", slice(200, None))):
        tiny.write_csv(root / f"{name}.csv", zip(texts[part], values[part], strict=True), ["text", "score"])
    settings = [f"--set={name.replace('__', '.')}={value}" for name, value in REPEATED.items()]
    named = ("data.train=train.csv", "data.test=test.csv", "model.task_options.loss=huber")
    result = tiny.run(
        "train", "my-numbers", "--data", root, "--out", root / "run", *settings,
        *(f"--set={each}" for each in named),
    )  # fmt: skip
    assert result.code == 0, result.err
    return root


def test_words_that_each_text_has_alone_do_not_change_the_scale() -> None:
    random = np.random.default_rng(0)

    def drawn(count: int) -> tuple[list[str], list[float]]:
        texts, values = numbers(count)
        return [f"{text} {random.integers(10**6)} {random.integers(10**6)}" for text in texts], values

    texts, values = drawn(240)
    model = TextScorer(text__vectors="", model__sentence="none").fit(
        texts[:180], values[:180], baseline=False
    )
    found = np.asarray(model.predict(texts[180:]), np.float64)
    slope = np.polyfit(found, values[180:], 1)[0]
    assert slope == pytest.approx(1, abs=0.1)


def test_numbers_far_from_zero_are_learned_on_their_own_scale(folder: Path) -> None:
    measured = tiny.run("evaluate", folder / "run", folder / "test.csv", "--json").json()
    assert list(measured["metrics"]) == ["r2", "pearson", "spearman", "mse", "mae"]
    assert measured["metrics"]["r2"] > 0.8
    assert set(measured["intervals"]) == set(measured["metrics"])
    model = load_model(folder / "run")
    assert isinstance(model, NumberModel)
    texts, values = numbers()
    found = [answer.score for answer in model.answer(texts[200:])]
    assert number_metrics(np.array(values[200:]), np.array(found))["r2"] == pytest.approx(
        measured["metrics"]["r2"], abs=1e-3
    )


def test_the_commands_print_and_explain_a_number(folder: Path) -> None:
    plain = tiny.run("predict", folder / "run", "--text", "a film and a song", "--json").json()
    assert plain["label"] is None
    assert 10_000 < plain["score"] < 10_500
    line = tiny.run("predict", folder / "run", "--text", "a film and a song").out
    assert float(line.split("\t")[0]) == pytest.approx(plain["score"], rel=1e-4)
    explained = tiny.run("explain", folder / "run", "--text", "a film and a song", "--json").json()
    low, high = explained["score_range"]
    assert low <= explained["score"] <= high
    assert explained["score"] == pytest.approx(plain["score"])
    page = folder / "why.html"
    assert explained["quantity"] == "score"
    assert tiny.run("explain", folder / "run", "--text", "a film", "--html", page).code == 0
    assert "What raises and what lowers the predicted “score”" in page.read_text(encoding="utf-8")
    assert "a number for a text" in (folder / "run/model/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("loss", ["square", "huber"])
def test_numbers_far_from_all_others_are_named_and_huber_learns_beside_them(
    loss: str, tmp_path: Path
) -> None:
    texts, values = numbers()
    gross = [1e9 if row % 60 == 7 else value for row, value in enumerate(values)]
    tiny.write_csv(tmp_path / "prices.csv", zip(texts, gross, strict=True), ["text", "price"])
    options = ("--score", "price", "--no-baseline", f"--set=model.task_options.loss={loss}")
    trained = tiny.run("train", tmp_path / "prices.csv", "--out", tmp_path / "run", *options)
    assert trained.code == 0, trained.err
    named = "4 of 240 training numbers are more than 20 times as far from the median, 10" in trained.out
    assert named == (loss == "square")  # where they decide what is learned
    found = [answer.score for answer in load_model(tmp_path / "run").answer(texts)]
    usual = [row for row, value in enumerate(gross) if value < 1e9]
    right = number_metrics(np.array(values)[usual], np.array(found)[usual])
    assert (right["r2"] > 0.8) == (loss == "huber")


def test_an_estimator_of_texts(tmp_path: Path) -> None:
    texts, values = numbers()
    scorer = TextScorer(**REPEATED).fit(texts[:200], values[:200])
    assert scorer.score(texts[200:], values[200:]) > 0.8
    scorer.save_pretrained(tmp_path / "model")
    for again in (
        TextScorer.from_pretrained(tmp_path / "model"),
        heedful.from_pretrained(tmp_path / "model"),
    ):
        assert isinstance(again, TextScorer)
        assert again.predict(texts[200:]) == pytest.approx(scorer.predict(texts[200:]))
    with pytest.raises(UsageError, match="'number' model"):
        PairScorer.from_pretrained(tmp_path / "model")


def test_an_estimator_of_pairs_takes_any_range(tmp_path: Path) -> None:
    texts, values = numbers()
    halves = [text.split(" and ") for text in texts]
    pairs = [(one, f"{other} {row}") for row, (one, other) in enumerate(halves)]  # each of them once
    settings = {**FEW, "model__task": "pair-number"}
    scorer = PairScorer(**settings).fit(pairs[:200], values[:200])
    assert scorer.evaluate(pairs[200:], values[200:]).metrics["r2"] > 0.5
    scorer.save_pretrained(tmp_path / "model")
    again = heedful.from_pretrained(tmp_path / "model")
    assert isinstance(again, PairScorer)
    assert again.predict(pairs[200:]) == pytest.approx(scorer.predict(pairs[200:]))


@pytest.mark.parametrize(
    ("rows", "code", "part"),
    [
        ([("a film", 3), ("a song", "many")], ExitCode.BAD_DATA, "row 3, field 'score': expected a number"),
        ([("a film", 3), ("a song", "nan")], ExitCode.BAD_DATA, "row 3, field 'score': expected a number"),
        ([("a film", 3)] * 40, ExitCode.BAD_DATA, "training numbers are 3: there is nothing to learn"),
    ],
)
def test_what_is_no_number_is_refused_in_one_line(
    tmp_path: Path, rows: list[tuple[str, object]], code: ExitCode, part: str
) -> None:
    tiny.write_csv(tmp_path / "train.csv", rows, ["text", "score"])
    result = tiny.run(
        "train", "my-numbers", "--out", tmp_path / "run", f"--set=data.train={tmp_path / 'train.csv'}"
    )
    assert (result.code, result.out) == (code, ""), result
    assert part in result.err.splitlines()[-1]


def test_a_setting_of_its_own_is_checked() -> None:
    with pytest.raises(UsageError, match=r"model\.task_options\.loss: must be one of 'square', 'huber'"):
        TextScorer(model__task_options={"loss": "hubert"}).config  # noqa: B018
    with pytest.raises(UsageError, match=r"model\.task_options\.los: unknown setting"):
        TextScorer(model__task_options={"los": "huber"}).config  # noqa: B018


def test_an_answer_is_the_same_alone_and_beside_others(folder: Path) -> None:
    model, texts = load_model(folder / "run"), numbers()[0][:20]
    together = [answer.score for answer in model.answer(texts)]
    assert [model.answer([text])[0].score for text in texts] == pytest.approx(together, rel=1e-5)
    assert json.dumps(model.answer(texts[:1])[0].as_dict())
