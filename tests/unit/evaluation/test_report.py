"""What a report adds to its metrics: intervals, figures by length, calibration; and how it is printed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from heedful.evaluation import accuracy_interval, evaluate_classes, evaluate_scores
from heedful.evaluation.label_sets import evaluate_label_sets
from heedful.evaluation.metrics import NAMES, length_bins
from heedful.evaluation.report_text import render_confusion, render_lengths, render_reliability, report_html
from made_reports import LENGTHS, made_report


def test_bins_of_length() -> None:
    assert length_bins(np.array([[0], [5], [6], [100], [101]])) == [
        "0-5",
        "0-5",
        "6-10",
        "61-100",
        "over 100",
    ]
    assert length_bins(np.array([[3, 17]])) == ["16-20"]
    assert len(set(NAMES)) == 10


def test_metrics_by_length() -> None:
    report = made_report()
    assert list(report.by_length) == ["0-5", "6-10", "11-15", "over 100"]
    assert report.by_length["0-5"] == {"accuracy": 0.5, "macro_f1": pytest.approx(1 / 3), "count": 2}
    assert render_lengths(report).splitlines()[1].split() == ["0-5", "0.5000", "2", "[0.0945,", "0.9055]"]
    scores = evaluate_scores(np.arange(1.0, 6), np.arange(1.0, 6), lengths=LENGTHS)
    assert scores.by_length["0-5"]["pearson"] == pytest.approx(1.0)


def test_intervals_in_text_and_json() -> None:
    report = made_report()
    assert report.intervals["accuracy"] == accuracy_interval(4, 5)
    assert f"accuracy 0.8000 {accuracy_interval(4, 5)}" in report.render()
    plain = json.loads(json.dumps(report.as_dict()))
    assert plain == report.as_dict()  # plain values from the start
    assert plain["intervals"]["macro_f1"]["method"].startswith("percentile bootstrap, 1,000")
    assert plain.keys().isdisjoint({"gold", "predicted", "statistics"})
    scores = evaluate_scores(np.arange(1.0, 6), np.array([1.0, 3, 2, 5, 4]))
    assert scores.intervals.keys() == scores.metrics.keys()


def test_one_example_has_no_interval() -> None:
    report = evaluate_classes(np.array([0]), np.array([0]), ("no", "yes"))
    assert report.intervals == {}
    assert "95 %" not in report.render()


def test_calibration_is_printed_and_a_figure() -> None:
    report = made_report()
    assert report.calibration is not None
    assert report.figures() == {**report.metrics, "ece": report.calibration.after.ece}
    assert f"ECE {report.calibration.after.ece:.4f} at temperature 2.000" in report.render()
    assert "temperature 2.000" in render_reliability(report)
    shown = [line.split()[3] for line in render_reliability(report).splitlines()[2:]]
    assert shown == [f"{part.confidence:.3f}" for part in report.calibration.after.bins]
    scores = evaluate_scores(np.arange(1.0, 6), np.arange(1.0, 6))
    assert scores.figures() == scores.metrics
    assert "no confidences" in render_reliability(scores)


def test_confusion_is_printed() -> None:
    lines = render_confusion(made_report()).splitlines()
    assert [line.split()[-2:] for line in lines] == [["1", "2"], ["2", "1"], ["0", "2"]]
    assert lines[1].startswith("1 no")
    assert "no classes" in render_confusion(evaluate_scores(np.arange(1.0, 6), np.arange(1.0, 6)))


def test_a_class_that_no_example_has_shows_no_figure() -> None:
    """It can be found neither well nor badly, so that 0.000 would say what was not measured."""
    report = evaluate_classes(np.array([0, 1, 0]), np.array([0, 1, 1]), ("no", "yes", "other"))
    assert [line.split() for line in report.render().splitlines() if line.startswith("other")] == [
        ["other", "-", "-", "-", "0"]
    ]
    assert "<td><bdi>-</bdi></td>" in report_html(report)


def test_a_class_with_a_line_end_in_its_name_stays_in_its_row() -> None:
    gold = np.array([0, 1, 1])
    report = evaluate_classes(gold, gold, ("fine", "not\nfine"))
    assert "not fine" in report.render()
    assert [line.split()[1] for line in render_confusion(report).splitlines()[1:]] == ["fine", "not"]
    assert "not\nfine" in report.per_class


@pytest.mark.parametrize("count", [50, 51, 1_500])
def test_of_very_many_classes_those_with_the_most_mistakes_have_a_row(count: int) -> None:
    """A row for each of 1,500 classes hides the figures above them."""
    names = tuple(f"class {number}" for number in range(count))
    gold = np.repeat(np.arange(count), 4)
    predicted = gold.copy()
    predicted[4 * 40 : 4 * 40 + 3] = 7  # three of class 40 are taken for class 7
    predicted[0] = 1
    report = evaluate_classes(gold, predicted, names)
    lines = report.render().splitlines()
    rows = [line for line in lines if line.startswith("class ") and "precision" not in line]
    assert len(report.per_class) == count
    if count == 50:
        assert len(rows) == 50
        assert "confused" not in lines[1]
        return
    assert len(rows) == 20
    assert "most often confused with" in lines[1]
    assert [line.split("  ")[0].strip() for line in rows[:2]] == ["class 7", "class 40"]
    assert rows[0].endswith("class 40 (3)")
    assert rows[1].endswith("class 7 (3)")
    assert f"the 20 of {count:,} classes with the most mistakes; --json prints all" in report.render()
    confused = render_confusion(report).splitlines()
    assert [line.split() for line in confused] == [
        ["gold", "times", "predicted"],
        ["class", "40", "3", "class", "7"],
        ["class", "0", "1", "class", "1"],
    ]
    never = evaluate_classes(
        gold, np.where(gold < count // 2, count, gold), (*names, "a class without a row")
    )
    assert never.render().splitlines()[2].startswith("a class without a row"), "its mistakes count too"
    many = evaluate_classes(gold, np.roll(gold, 1), names)
    assert len(render_confusion(many).splitlines()) == min(count, 50) + 1 + (count > 50)


def test_of_very_many_labels_those_with_the_most_mistakes_have_a_row() -> None:
    """Several labels a text are confused with nothing: what is missed and what is too much counts."""
    generator = np.random.default_rng(0)
    gold = generator.random((200, 60)) < 0.2
    predicted = gold.copy()
    predicted[:, 41] = ~gold[:, 41]
    predicted[gold[:, 17].nonzero()[0][:9], 17] = False
    report = evaluate_label_sets(
        gold, predicted, predicted.astype(float), [f"label {number}" for number in range(60)]
    )
    lines = report.render().splitlines()
    rows = [line.split("  ")[0].strip() for line in lines if line.startswith("label ")]
    assert len(rows) == 20
    assert set(rows[:2]) <= {"label 41", "label 17"}
    assert "confused" not in report.render()
    assert "the 20 of 60 classes with the most mistakes" in report.render()
