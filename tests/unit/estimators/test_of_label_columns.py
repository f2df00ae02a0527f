"""The estimator of several label columns: its targets, what it predicts, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import heedful
from heedful import LabelColumnsClassifier
from heedful.errors import DataError, UsageError
from heedful.estimators.of_label_columns import LabelColumns
from heedful.estimators.targets import LabelSets

WORDS = {"goal": "sport", "soup": "food", "song": "art"}
TEXTS = [
    f"{how} {what} {when}" for what in WORDS for how in ("grim", "fine") for when in ("now", "then", "here")
] * 3
ROWS = [[WORDS[text.split()[1]], int(text.startswith("fine"))] for text in TEXTS]
SMALL = {"text__vectors": "", "model__sentence": "none"}


@pytest.fixture(scope="module")
def model() -> LabelColumnsClassifier:
    named = [{"topic": topic, "mood": mood} for topic, mood in ROWS]
    return LabelColumnsClassifier(**SMALL).fit(TEXTS, named, baseline=False)


def test_one_model_answers_every_column_in_the_types_of_its_targets(model: LabelColumnsClassifier) -> None:
    assert model.columns_ == ("topic", "mood")
    assert [own.tolist() for own in model.classes_] == [["art", "food", "sport"], [0, 1]]
    assert model.predict(["fine goal", "grim soup"]).tolist() == [["sport", 1], ["food", 0]]
    shares = model.predict_proba(TEXTS[:4])
    assert [own.shape for own in shares] == [(4, 3), (4, 2)]
    assert all(own.sum(axis=1) == pytest.approx(1) for own in shares)
    assert model.score(TEXTS, [{"mood": mood, "topic": topic} for topic, mood in ROWS]) == 1.0
    assert model.evaluate(TEXTS[:6], [{"topic": None, "mood": mood} for _, mood in ROWS[:6]]).count == 6
    assert isinstance(clone(model), LabelColumnsClassifier)


def test_a_saved_model_answers_alike_with_and_without_torch(
    model: LabelColumnsClassifier, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path / "model")
    again = heedful.from_pretrained(tmp_path / "model")
    assert isinstance(again, LabelColumnsClassifier)
    assert again.columns_ == model.columns_
    assert (again.predict(TEXTS).astype(str) == model.predict(TEXTS).astype(str)).all()
    plain = list(heedful.runtime.load(tmp_path / "model").predict(TEXTS[:9]))
    for answer, own in zip(plain, model.answer(TEXTS[:9]), strict=True):
        assert answer.labels == own.labels
        assert list(answer.probabilities.values()) == pytest.approx(
            list(own.probabilities.values()), abs=1e-6
        )


def test_a_set_holds_classes_of_each_column(model: LabelColumnsClassifier) -> None:
    (answer,) = model.promised(["fine goal"], 0.8)
    assert answer.prediction_set[0].startswith("topic: ")
    assert answer.prediction_set[-1].startswith("mood: ")
    with pytest.raises(
        UsageError, match="a method and sets by class are for classes; this is a model of label columns"
    ):
        model.promised(["fine goal"], 0.8, method="aps")


@pytest.mark.parametrize(
    ("targets", "part"),
    [
        ([["a"], ["b"]], "two label columns or more, got 1"),
        ([["a", "b"], ["a"]], r"target 2: expected a row of 2 classes, got \['a'\]"),
        ("ab", "expected a table"),
        (None, "requires y to be passed"),
        ([{"x: y": "a", "z": "b"}], "'x: y' must not hold ': '"),
        ([["a", 1], ["b", "c"]], "label column '1': y: classes of mixed types"),
        ([["a", {}], ["b", {}]], "label column '1': target 1: expected one class"),
    ],
)
def test_targets_of_another_form_are_refused(targets: object, part: str) -> None:
    with pytest.raises((UsageError, DataError), match=part):
        LabelColumns.of(targets)


def test_tables_and_arrays_are_read_by_name_and_by_place() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"b": ["x", None, "y"], "a": ["1", "2", "1"]})
    found = LabelColumns.of(frame)
    assert found.names == ("b: x", "b: y", "a: 1", "a: 2")
    assert [own.names for own in found.read(frame[["a", "b"]])] == [
        ("a: 1", "b: x"),
        ("a: 2",),
        ("a: 1", "b: y"),
    ]
    array = LabelColumns.of(np.array([["x", "1"], ["y", "2"]]))
    assert array.names == ("0: x", "0: y", "1: 1", "1: 2")
    assert LabelColumns.of([[np.nan, "a"], ["b", "c"], [np.nan, np.nan]]).read([[np.nan, np.nan]]) == [None]
    with pytest.raises(UsageError, match="expected the label columns"):
        found.read(frame[["a"]])


def test_columns_that_would_be_lost_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    twice = pd.DataFrame([["a", "x"], ["b", "y"]], columns=["topic", "topic"])
    with pytest.raises(UsageError, match="y: 2 columns are called 'topic'"):
        LabelColumns.of(twice)
    flags = pd.DataFrame([[0, 1], [1, 0]], columns=["rude", "rude"])
    with pytest.raises(UsageError, match="y: 2 columns are called 'rude'"):
        LabelSets.of(flags)
    with pytest.raises(DataError, match="label column 'mood': holds no class; leave this column out"):
        LabelColumns.of([{"topic": "a", "mood": None}, {"topic": "b", "mood": None}])
