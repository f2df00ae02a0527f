"""Targets and settings from Python that would fall back to another meaning: refused, honored, or warned of."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from heedful import MultiLabelClassifier, PairClassifier, TextClassifier, TokenTagger
from heedful.errors import DataError, UsageError
from heedful.estimators.columns import rows_of
from heedful.estimators.targets import ClassNames, LabelSets

pandas = pytest.importorskip("pandas")

FEW: dict[str, Any] = {"model__width": 8, "model__hidden": 8, "train__max_steps": 2}
TEXTS = [f"text {k} is {'fine' if k % 2 else 'dull'}" for k in range(40)]
LABELS = ["ab"[k % 2] for k in range(40)]


def test_a_frame_of_pairs_is_read_by_name(caplog: pytest.LogCaptureFixture) -> None:
    frame = pandas.DataFrame({"hypothesis": ["h1", "h2"], "premise": ["p1", "p2"]})
    assert [*map(tuple, rows_of(frame, pair=True))] == [("p1", "h1"), ("p2", "h2")]  # type: ignore[arg-type]
    more = frame.assign(id=[1, 2])
    assert [*map(tuple, rows_of(more, pair=True))] == [("p1", "h1"), ("p2", "h2")]  # type: ignore[arg-type]
    for names in (("sentence2", "sentence1"), ("text_b", "text_a"), ("Question2", "question1")):
        with pytest.raises(UsageError, match="would be read as first and second text"):
            rows_of(pandas.DataFrame([["a", "b"]], columns=names), pair=True)
    for names in (("sentence1", "sentence2"), ("query", "answer"), ("a", "b")):
        found = rows_of(pandas.DataFrame([["x", "y"]], columns=names), pair=True)
        assert [*map(tuple, found)] == [("x", "y")]  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float32"])
def test_nullable_columns_of_indicators_are_labels(dtype: str) -> None:
    frame = pandas.DataFrame({"art": [1, 0], "food": [0, 1]}).astype(dtype)
    assert LabelSets.of(frame).names == ("art", "food")
    assert [each.names for each in LabelSets.of(frame).read(frame)] == [("art",), ("food",)]
    frame.iloc[1, 0] = pandas.NA
    with pytest.raises(DataError, match="target 2: a value is missing"):
        LabelSets.of(frame)


def test_a_frame_of_indicators_is_read_by_name() -> None:
    frame = pandas.DataFrame({"art": [1, 0], "food": [0, 1]})
    sets = LabelSets.of(frame)
    assert sets.names == ("art", "food")
    assert sets.read(frame[["food", "art"]]) == sets.read(frame)


def test_labels_that_differ_in_white_space_alone_are_refused() -> None:
    with pytest.raises(DataError, match=r"target 3: ' a' and 'a' differ in white space alone"):
        ClassNames.of(["a", "b", " a"])
    with pytest.raises(DataError, match="differ in white space alone"):
        LabelSets.of([["a"], ["b ", "b"]])
    with pytest.raises(DataError, match="holds half of a character"):
        ClassNames.of(["a", "n\ud83d"])
    assert ClassNames.of(["a ", "b"]).names == ("a ", "b")


@pytest.mark.parametrize(("one", "two"), [("1,0,1", "0,1,0"), ("[1 0]", "[0 1]"), ("0|1", "1|1")])
def test_zeros_and_ones_in_a_cell_are_no_class_in_silence(
    one: str, two: str, caplog: pytest.LogCaptureFixture
) -> None:
    ClassNames.of([one, two] * 3)
    assert "6 rows have a label such as" in caplog.text
    assert "write one column for each label" in caplog.text


@pytest.mark.parametrize("cell", ["['neg', 'both']", "['neg']", '["neg"]', "('neg', 'both')"])
def test_a_list_that_is_written_as_text_is_no_class(cell: str) -> None:
    with pytest.raises(DataError, match=r"target 2: .* is a list that is written as text"):
        ClassNames.of(["pos", cell])
    assert ClassNames.of(["[URGENT]", "(old)"]).names == ("(old)", "[URGENT]")


def test_labels_that_say_that_there_is_none_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ClassNames.of(["entailment", "-", "neutral", "-"])
    assert "y: 2 targets are '-', which says that an example has no class" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        ClassNames.of(["+", "-", "0"])
        ClassNames.of([1, 2, 3])
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        ClassNames.of(["pos", "neg", "pos#neg"])
    assert "1 rows have a label such as 'pos#neg'" in caplog.text


@pytest.mark.parametrize(
    ("kind", "settings", "part"),
    [
        (TextClassifier, {"data__options": {"repair": True}}, "data__options: 'repair' is for files"),
        (TextClassifier, {"data__options": {"encoding": "cp1252"}}, "'encoding' is for files"),
        (
            TextClassifier,
            {"data__options": {"on_mising": "empty"}},
            "no option 'on_mising'; did you mean 'on_missing'",
        ),
        (TextClassifier, {"data__options": {"on_missing": "skip"}}, "on_missing='skip' is for files"),
        (TextClassifier, {"data__train": "a.csv"}, "data__train: is for files"),
        (
            TextClassifier,
            {"baseline": False},
            "baseline: is an argument of fit",
        ),
        (TextClassifier, {"data__label": "mood"}, "data__label: is for files"),
        (PairClassifier, {"data__premise": "a"}, "data__premise: is for files"),
        (TokenTagger, {"data__options": {"repiar": True}}, "no option 'repiar'; did you mean 'repair'"),
        (TokenTagger, {"data__options": {"tag": 3}}, "'tag' is for files"),
        (MultiLabelClassifier, {"data__options": {"label_separator": ";"}}, "'label_separator' is for files"),
    ],
)
def test_settings_of_files_are_refused(kind: Any, settings: dict[str, Any], part: str) -> None:
    with pytest.raises(UsageError) as caught:
        kind(**settings, **FEW).fit(TEXTS, LABELS)
    assert part in str(caught.value)


def test_a_missing_text_is_empty_if_that_is_asked_for() -> None:
    texts: list[str | None] = [*TEXTS[:-1], None]
    with pytest.raises(DataError, match="request 40, field 'text': value is missing"):
        TextClassifier(**FEW).fit(texts, LABELS, baseline=False)
    model = TextClassifier(data__options={"on_missing": "empty"}, **FEW).fit(texts, LABELS, baseline=False)
    assert len(model.predict([None, "fine"])) == 2


TAGGED = (
    [["Ada", "Lovelace", "wrote"], ["in", "New", "York"]] * 10,
    [["I-PER", "I-PER", "O"], ["O", "I-LOC", "I-LOC"]] * 10,
)


def test_broken_spans_are_repaired_if_that_is_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    few = {**FEW, "text__subwords": 10}
    del few["model__hidden"]
    with pytest.raises(DataError, match="I-PER must follow B-PER"):
        TokenTagger(**few).fit(*TAGGED)
    with caplog.at_level(logging.WARNING):
        tagger = TokenTagger(data__options={"repair": True}, **few).fit(*TAGGED)
    assert "y: the tags of 20 texts were repaired" in caplog.text
    assert tagger.classes_.tolist() == ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
    assert "f1" in tagger.evaluate(*TAGGED).metrics


@pytest.mark.parametrize(
    ("tags", "part"),
    [
        ([[1, 2, 0], [0, 3, 4]], r"target 1: the tags are numbers, \[1, 2, 0\]; give their names"),
        ([["B", "I", "O"], ["O", "B", "I"]], "mark spans without a kind"),
        ([["B_PER", "I_PER", "O"], ["O", "B_LOC", "I_LOC"]], "in a form that is not read"),
        ([["B-PER ", "I-PER", "O"], ["O", "B-PER", "I-PER"]], "differ in white space alone"),
    ],
)
def test_tags_that_would_be_read_as_something_else_are_refused(tags: Any, part: str) -> None:
    with pytest.raises(DataError, match=part):
        TokenTagger(train__max_steps=1).fit(TAGGED[0][:2] * 10, tags * 10)


def test_bilou_from_python_is_measured_in_spans() -> None:
    few = {**FEW, "text__subwords": 10}
    del few["model__hidden"]
    tags = [["B-PER", "L-PER", "O"], ["O", "B-LOC", "L-LOC"]] * 10
    tagger = TokenTagger(**few).fit(TAGGED[0], tags)
    assert tagger.classes_.tolist()[:5] == ["O", "B-LOC", "I-LOC", "L-LOC", "U-LOC"]
    assert {"f1", "precision", "recall"} <= tagger.evaluate(TAGGED[0], tags).metrics.keys()


def test_one_label_alone_is_learned_from_python() -> None:
    y = [["good"] if k % 2 else [] for k in range(40)]
    model = MultiLabelClassifier(**FEW).fit(TEXTS, y)
    found = model.predict(TEXTS)
    gold = np.array([[bool(each)] for each in y])
    both = (found.astype(bool) & gold).sum()
    expected = 2 * both / (found.sum() + gold.sum()) if found.sum() + gold.sum() else 0.0
    assert model.evaluate(TEXTS, y).metrics["micro_f1"] == pytest.approx(expected)


@pytest.mark.parametrize("value", [1.5, {}, {"a": 1}, b"a", True])
def test_lists_of_names_that_are_none_are_refused(value: Any) -> None:
    frame = pandas.DataFrame({"text": TEXTS, "price": range(40)})
    for wrong in ({"features": value}, {"text": value, "features": ["price"]}):
        with pytest.raises(UsageError, match=r"^(features|text): expected a list of names; got "):
            TextClassifier(**wrong, **FEW).fit(frame, LABELS)
    with pytest.raises(UsageError, match=r"^teacher: expected a list of model folders; got "):
        TextClassifier(**FEW).fit(TEXTS, LABELS, teacher=value)
    with pytest.raises(UsageError, match=r"^teacher: .*; got an empty list$"):
        TextClassifier(**FEW).fit(TEXTS, LABELS, teacher=[])
