from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from heedful.errors import DataError, UsageError
from heedful.explain import Explanation, SentenceView, render_html
from heedful.explain.attribution import Attribution


def words(**more):
    return SentenceView.from_words("text", ["a", "bc"], **more)


def test_every_explanation_survives_json(every):
    for explanation in every.values():
        record = explanation.to_dict()
        again = Explanation.from_dict(json.loads(json.dumps(record)))
        assert again.to_dict() == record
        for before, after in zip(explanation.sides, again.sides, strict=True):
            assert before.maps.keys() == after.maps.keys()
            assert all(np.array_equal(before.maps[name], after.maps[name]) for name in before.maps)
    assert len(every) >= 6


def test_the_record_answers_simple_questions(pair, aligned):
    assert pair.predicted == "entailment"
    assert Explanation((words(),), score=1.0).predicted is None
    assert aligned.sides[0].in_text == (False, True, True)
    assert words().text == "a bc"
    assert words().spans == ((0, 1), (2, 4))
    assert words().unknown == (False, False)


def test_arrays_are_copies_that_cannot_be_changed():
    mine = np.array([0.5, 0.5])
    view = words(weights=mine)
    mine[0] = 9.0
    assert view.weights is not None
    assert view.weights[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        view.weights[0] = 1.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"maps": {"forward": np.zeros((2, 3))}}, r"map 'forward' must have shape \[2, 2\].*\[2, 3\]"),
        ({"maps": {"forward": np.full((2, 2), np.nan)}}, "map 'forward' must be finite"),
        ({"maps": {"forward": np.full((2, 2), 1.5)}}, r"map 'forward' must lie in 0\.\.1"),
        ({"gates": {"forward": np.zeros(3)}}, "gate 'forward' must have shape"),
        ({"gates": {"forward": [-0.5, 0.5]}}, r"gate 'forward' must lie in 0\.\.1"),
        ({"weights": [0.5, 0.1]}, "weights must sum to 1"),
        ({"weights": [0.5, np.inf]}, "weights must be finite"),
        ({"tree_distance": [[0, 1]]}, "tree_distance must have shape"),
        ({"chosen": [True, False]}, "chosen must have shape"),
        ({"unknown": (True,)}, "one entry a word"),
    ],
)
def test_a_view_refuses_what_does_not_fit(fields, message):
    with pytest.raises(UsageError, match=message):
        words(**fields)


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        (((0, 1),), "one entry a word"),
        (((0, 1), (2, 9)), "does not lie in a text of 4"),
        (((0, 3), (2, 4)), "overlap"),
        (((2, 4), (0, 1)), "out of order"),
    ],
)
def test_a_view_refuses_wrong_spans(spans, message):
    with pytest.raises(UsageError, match=message):
        SentenceView("text", "a bc", ("a", "bc"), spans)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "got neither"),
        ({"labels": ("a",), "probabilities": ()}, "labels and probabilities must match"),
        ({"labels": ("a",), "probabilities": (float("nan"),)}, "must be finite"),
        ({"score": float("inf")}, "must be finite"),
        ({"score": 1.0, "alignments": {"x": np.zeros((2, 2))}}, "need two sides"),
    ],
)
def test_an_explanation_refuses_what_does_not_fit(fields, message):
    with pytest.raises(UsageError, match=message):
        Explanation((words(),), **fields)


def test_an_explanation_has_one_or_two_sides_and_fitting_alignments():
    with pytest.raises(UsageError, match="one view for a text or two for a pair"):
        Explanation((), score=1.0)
    with pytest.raises(UsageError, match=r"alignment 'x' must have shape \[2, 2\]"):
        Explanation((words(), words()), score=1.0, alignments={"x": np.zeros((2, 3))})


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: record.pop("sides"),
        lambda record: record.update(format=99),
        lambda record: record.update(color="red"),
        lambda record: record["sides"][0].pop("words"),
        lambda record: record["sides"][0].update(weights=[1.0]),
        lambda record: record.update(faithfulness={"k": 1}),
    ],
)
def test_a_damaged_record_is_refused(pair, damage):
    record = pair.to_dict()
    damage(record)
    with pytest.raises(DataError):
        Explanation.from_dict(record)


def test_explain_imports_neither_torch_nor_matplotlib():
    code = "import sys, heedful.explain; sys.exit(any(m in sys.modules for m in ('torch', 'matplotlib')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_methods_write_files_and_lines(pair, tmp_path):
    assert pair.to_html(tmp_path / "a.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert pair.to_figure(tmp_path / "a.svg").stat().st_size > 10_000
    assert pair.to_text().startswith("entailment 87.0 %")


def several(*chosen: str) -> Explanation:
    view = SentenceView.from_words("text", ["so", "happy"])
    said = [
        Attribution("contributions", f"“{name}”", (np.array([0.5, value]),), 0.5 + value, label=name, probability=p)
        for name, value, p in (("joy", 1.5, 0.88), ("loud", 0.1, 0.65), ("fear", -3.0, 0.08))
    ]  # fmt: skip
    shares = {"fear": 0.08, "joy": 0.88, "loud": 0.65}
    return Explanation(
        (view,), tuple(shares), tuple(shares.values()), attribution=said[0], others=tuple(said[1:]), chosen=chosen
    )  # fmt: skip


def test_of_several_labels_those_that_are_answered_stand_first() -> None:
    found = several("joy", "loud")
    assert Explanation.from_dict(json.loads(json.dumps(found.to_dict()))).chosen == ("joy", "loud")
    assert [found.answers(name) for name in found.labels] == [False, True, True]
    text = found.to_text()
    assert text.startswith("joy 88.0 %, loud 65.0 %   (not fear 8.0 %)")
    assert "Why “joy”" in text
    assert "Why “loud” (65.0 %)" in text
    assert "Why not “fear” (8.0 %)" in text
    page = render_html(found)
    assert "<h1>joy, loud<small>2 of 3 labels</small></h1>" in page
    assert page.count('<tr class="best">') == 2
    assert "<summary>Why “loud”? 65.0 %</summary>" in page
    assert "<summary>Why not “fear”? 8.0 %</summary>" in page
    nothing = several()
    assert nothing.to_text().startswith("no label   (not joy 88.0 %, loud 65.0 %, fear 8.0 %)")
    assert "Why not “joy”" in nothing.to_text()
    assert "<h2>Why not “joy”</h2>" in render_html(nothing)
    empty = Attribution("contributions", "“joy”", (np.zeros(0),), -2.0, -2.0, label="joy", probability=0.12)
    other = Attribution("contributions", "“fear”", (np.zeros(0),), -3.0, -3.0, label="fear", probability=0.05)
    view = SentenceView.from_words("text", [])
    without = Explanation(
        (view,), ("joy", "fear"), (0.12, 0.05), attribution=empty, others=(other,), chosen=()
    )
    assert "Why not “joy”" in without.to_text()
    assert "fear” (5.0 %)" not in without.to_text()
    with pytest.raises(UsageError, match="chosen must be labels"):
        several("anger")
