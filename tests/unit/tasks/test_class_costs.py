"""Costs of wrong classes: what is stated, what is answered, and that every way to a prediction agrees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful import TextClassifier, from_pretrained, runtime
from heedful.errors import ArtifactError, UsageError
from heedful.model.decisions import cheapest
from heedful.run.tuning import Search
from heedful.storage.fields import read_json
from heedful.storage.manifest import CONFIG, MODEL_FILES, write_json, write_manifest
from heedful.tasks.class_costs import cost_matrix

SMALL = {"model__width": 16, "model__hidden": 16, "train__device": "cpu", "train__optimizer__lr": 0.02}
TEXTS = [text for text, _ in tiny.texts()]
LABELS = [label for _, label in tiny.texts()]
DEAR = {"costs": {"pos": 30}}
"""To miss a positive text costs 30 times what it costs to miss a negative one."""


@pytest.fixture(scope="module")
def careful() -> TextClassifier:
    gold = [("neg" if number % 7 == 0 else label) for number, label in enumerate(LABELS)]  # some are wrong
    made = TextClassifier(train__epochs=2, model__task_options=DEAR, **SMALL)
    return made.fit(TEXTS[:120], gold[:120])


def test_the_matrix_has_what_is_stated_and_one_elsewhere() -> None:
    stated = {"urgent": 10, "spam": {"urgent": 3}}
    expected = [[0, 10, 10], [1, 0, 1], [3, 1, 0]]
    assert cost_matrix(stated, ("urgent", "mail", "spam")).tolist() == expected
    assert cost_matrix({}, ("a", "b")).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("costs", "text"),
    [
        ({"urgnt": 2}, "there is no class 'urgnt'; did you mean 'urgent'"),
        ({"spam": {"urgnt": 2}}, r"costs\.spam: there is no class 'urgnt'"),
        ({"spam": {"spam": 2}}, "a right answer costs nothing"),
    ],
)
def test_a_wrong_name_is_named(costs: dict, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        cost_matrix(costs, ("urgent", "mail", "spam"))


@pytest.mark.parametrize("cost", [-1, float("nan"), float("inf"), "2", True, {"spam": -2}, None])
def test_a_cost_that_is_none_is_refused(cost: object) -> None:
    with pytest.raises(UsageError, match=r"model\.task_options\.costs: must give every class a number"):
        TextClassifier(model__task_options={"costs": {"urgent": cost}}).config  # noqa: B018


def test_the_least_expected_cost_is_answered() -> None:
    """Of two classes that is a threshold, ``p >= c / (c + d)``; of three it is computed by hand."""
    shares = np.stack([1 - (p := np.linspace(0, 1, 41)), p], axis=1)
    chosen = cheapest(shares, cost_matrix({"yes": 4}, ("no", "yes")))
    assert (chosen == 1).tolist() == (p > 1 / 5 + 1e-9).tolist()
    three = cost_matrix({"a": 10, "c": {"a": 0.1}}, "abc")
    shares = np.array([[0.1, 0.6, 0.3], [0.05, 0.9, 0.05]])
    # expected costs of a, b and c: 0.6 + 0.03, 1.0 + 0.3, 1.0 + 0.6; and 0.9 + 0.005, 0.55, 1.4
    assert cheapest(shares, three).tolist() == [0, 1]
    assert cheapest(shares[:1], three).tolist() == [0]


def test_every_way_to_a_prediction_answers_by_cost(careful: TextClassifier, tmp_path: Path) -> None:
    probabilities = careful.predict_proba(TEXTS[120:])
    best = probabilities.argmax(axis=1)
    expected = np.where(30 * probabilities[:, 1] > probabilities[:, 0], "pos", "neg")
    assert careful.predict(TEXTS[120:]).tolist() == expected.tolist()
    changed = np.flatnonzero(careful.classes_[best] != expected)
    assert len(changed), "no text for which costs decide, so that nothing is tested"
    careful.save_pretrained(tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model")
    assert loaded.predict(TEXTS[120:]).tolist() == expected.tolist()
    light = list(runtime.load(tmp_path / "model").predict(TEXTS[120:]))
    assert [answer.label for answer in light] == expected.tolist()
    assert [answer.label for answer in careful.answer(TEXTS[120:])] == expected.tolist()
    table = tiny.run("predict", tmp_path / "model", "--text", TEXTS[120 + changed[0]])
    assert table.out.split("\t")[:2] == ["pos", f"{probabilities[changed[0], 1]:.3f}"]


def test_an_explanation_is_of_the_class_that_is_answered(careful: TextClassifier) -> None:
    probabilities = careful.predict_proba(TEXTS[120:])
    place = int(np.flatnonzero((probabilities[:, 1] < 0.5) & (30 * probabilities[:, 1] > 1))[0])
    found = careful.explain(TEXTS[120 + place], method="occlusion")
    assert (found.predicted, found.answered) == ("pos", "pos")
    assert found.attribution is not None
    assert 1 / (1 + np.exp(-found.attribution.whole)) == pytest.approx(probabilities[place, 1], abs=1e-5)
    assert f"pos {probabilities[place, 1]:.1%} by the costs".replace("%", " %") in found.to_text()
    assert type(found).from_dict(found.to_dict()).predicted == "pos"


def test_a_report_has_the_mean_cost_with_and_without_costs(careful: TextClassifier, tmp_path: Path) -> None:
    report = careful.evaluate(TEXTS[120:], LABELS[120:])
    gold = np.array(LABELS[120:])
    price = np.where(gold == "pos", 30, 1)
    by_cost = careful.predict(TEXTS[120:])
    likeliest = careful.classes_[careful.predict_proba(TEXTS[120:]).argmax(axis=1)]
    assert report.metrics["cost"] == pytest.approx((price * (by_cost != gold)).mean())
    assert report.metrics["cost_of_most_probable"] == pytest.approx((price * (likeliest != gold)).mean())
    assert report.metrics["accuracy"] == pytest.approx((by_cost == gold).mean())
    assert f"cost {report.metrics['cost']:.4f}" in report.render()
    careful.save_pretrained(tmp_path / "model")
    rows = "".join(f"{label},{text}\n" for text, label in zip(TEXTS[120:], LABELS[120:], strict=True))
    (tmp_path / "gold.csv").write_text("label,text\n" + rows.replace(" ,", " ;"), encoding="utf-8")
    texts = [text.replace(" ,", " ;") for text in TEXTS[120:]]
    from_file = tiny.run("evaluate", tmp_path / "model", tmp_path / "gold.csv", "--json").json()
    assert from_file["metrics"] == careful.evaluate(texts, LABELS[120:]).metrics
    assert careful.baseline_ is None  # the baselines know no costs


ALONE = {"data__few_rows": 0, "model__wide": "none", "model__sentence": "none"}


def test_the_best_epoch_and_the_figures_of_weighted_rows_are_by_cost() -> None:
    """Without weights as with them, the figures of dev are those of what the finished model answers to dev."""
    gold = [("neg" if number % 7 == 0 else label) for number, label in enumerate(LABELS)]
    dev = (TEXTS[120:180], gold[120:180])
    for weights in ((), (np.linspace(0.5, 3, 60),)):
        model = TextClassifier(train__epochs=4, model__task_options=DEAR, **ALONE, **SMALL)
        model.fit(TEXTS[:120], gold[:120], dev=(*dev, *weights), baseline=False)
        told = [record["cost"] for record in model.result_.fit.history]
        assert len(told) == 4
        assert model.result_.fit.best_metrics["cost"] == min(told)
        prices = np.where(np.array(dev[1]) == "pos", 30, 1) * (model.predict(dev[0]) != dev[1])
        assert model.result_.dev.metrics["cost"] == pytest.approx(
            np.average(prices, weights=weights[0] if weights else None)
        )


def test_a_search_scores_trials_by_cost(tmp_path: Path) -> None:
    config = TextClassifier(model__task_options=DEAR, **SMALL).config
    found = Search(config, {}, tmp_path).config.train
    assert (found.metric, found.direction) == ("cost", "min")
    other = TextClassifier(model__task_options=DEAR, train__metric="macro_f1", **SMALL).config
    assert Search(other, {}, tmp_path).config.train.metric == "macro_f1"


def test_a_class_that_training_lacks_is_reported_before_training() -> None:
    costs = {"costs": {"posi": 2}}
    with pytest.raises(UsageError, match="there is no class 'posi'"):
        TextClassifier(model__task_options=costs, **SMALL).fit(TEXTS[:60], LABELS[:60])


@pytest.mark.parametrize("costs", [[[0, 1]], [[0, 1], [1, "0"]], [[0, -1], [1, 0]], [[0.0]], {"a": 1}])
def test_a_folder_with_other_costs_is_refused(careful: TextClassifier, tmp_path: Path, costs: object) -> None:
    careful.save_pretrained(tmp_path / "model")
    config = read_json(tmp_path / "model" / CONFIG, dict)
    write_json(tmp_path / "model" / CONFIG, {**config, "costs": costs})
    write_manifest(tmp_path / "model", MODEL_FILES)
    for read in (from_pretrained, runtime.load):
        with pytest.raises(ArtifactError, match="cost"):
            read(tmp_path / "model")
