"""Several label columns of a file: trained, measured, answered and explained by every command, or refused in a line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.errors import ExitCode
from heedful.tasks import load_model
from heedful.tasks.columns_task import LabelColumnsModel
from onnx_sessions import open_session

WORDS = {"goal": "sport", "ball": "sport", "soup": "food", "meal": "food", "song": "art", "film": "art"}
MOODS = {"grim": "sad", "fine": "glad, really"}
SETTINGS = ("--set=text.vectors=", "--set=model.sentence=none", "--set=data.few_rows=200")
BOTH = ("--column", "label=topic", "--column", "label=mood")


def rows(count: int) -> list[tuple[str, str, str]]:
    draw = np.random.default_rng(0)
    found = []
    for row in range(count):
        word, mood = str(draw.choice(list(WORDS))), str(draw.choice(list(MOODS)))
        found.append((f"a {mood} {word} {row % 3}", WORDS[word] if row % 7 else "", MOODS[mood]))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("label-columns")
    every = rows(160)
    tiny.write_csv(root / "train.csv", every[:120], ["text", "topic", "mood"])
    tiny.write_csv(root / "test.csv", every[120:], ["text", "topic", "mood"])
    result = tiny.run("train", root / "train.csv", *BOTH, "--out", root / "run", *SETTINGS)
    assert result.code == 0, result.err
    assert (
        "a class of each of the label columns “topic” and “mood”; trained as my-label-columns" in result.err
    )
    return root


def test_each_column_is_measured(folder: Path) -> None:
    found = tiny.run("evaluate", folder / "run", folder / "test.csv", "--json").json()
    assert list(found["metrics"])[3:] == [
        "accuracy: topic",
        "macro_f1: topic",
        "accuracy: mood",
        "macro_f1: mood",
    ]
    assert found["metrics"]["micro_f1"] > 0.95
    assert set(found["intervals"]) == {"micro_f1", "subset_accuracy"}
    one = tiny.run("evaluate", folder / "run", folder / "test.csv", "--column", "label=mood", "--json").json()
    assert one["metrics"]["accuracy: mood"] == found["metrics"]["accuracy: mood"]
    assert "accuracy: topic" not in one["metrics"]
    bare, some = "rows without a class of topic", sum(not row[1] for row in rows(160)[120:])
    assert (one["notes"][bare], found["notes"][bare]) == (40, some)
    assert "rows without a class of mood" not in found["notes"]
    sets = tiny.run("evaluate", folder / "run", folder / "test.csv", "--coverage", "0.9")
    assert "in each label column a share of about 0.9 of new texts has its class in the set" in sets.out


def test_every_engine_answers_alike(folder: Path) -> None:
    model = load_model(folder / "run")
    assert isinstance(model, LabelColumnsModel)
    (own,) = model.answer(["a fine goal 1"])
    said = tiny.run("predict", folder / "run", "a fine goal 1", "--json").json()
    assert said["labels"] == list(own.labels) == ["topic: sport", "mood: glad, really"]
    assert said["probabilities"] == pytest.approx(own.probabilities, abs=1e-6)
    for name in ("out.csv", "out.jsonl"):
        result = tiny.run(
            "predict", folder / "run", "--input", folder / "test.csv", "--output", folder / name
        )
        assert result.code == 0, result.err
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["labels"].startswith("topic: ")
    first = json.loads((folder / "out.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert len(first["prediction"]["labels"]) == 2


def test_contributions_add_up_to_the_log_odds_within_the_column(folder: Path) -> None:
    page = folder / "why.html"
    found = tiny.run("explain", folder / "run", "a grim film 2", "--json", "--html", page).json()
    shares = dict(zip(found["labels"], found["probabilities"], strict=True))
    assert len(found["others"]) == 4
    for each in (found["attribution"], *found["others"]):
        share = shares[each["label"]]
        total = each["start"] + each["together"] + sum(map(sum, each["values"]))
        assert total == pytest.approx(np.log(share / (1 - share)), abs=1e-6)
    assert "topic: art" in found["chosen"]
    report = tiny.run("explain", folder / "run", "--all", folder / "test.csv", "--html", folder / "all.html")
    assert report.code == 0, report.err
    assert "topic: food" in report.out


def test_an_onnx_file_has_the_probabilities_of_each_column(folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    result = tiny.run("export", folder / "run", "--onnx", folder / "model.onnx", "--check")
    assert result.code == 0, result.err
    session = open_session(folder / "model.onnx")
    filled = {
        each.name: np.zeros([size if isinstance(size, int) else 1 for size in each.shape], np.int64)
        for each in session.get_inputs()
    }
    logits, shares = session.run(["logits", "probabilities"], filled)
    model = load_model(folder / "run")
    assert shares == pytest.approx(model.probabilities(logits), abs=1e-6)


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (("train", "TRAIN", "--from", "RUN", "--out", "new"), "a model of label columns does not learn on"),
        (
            ("train", "TRAIN", "--label", "topic", "--label", "moods"),
            "there is no column 'moods' for label",
        ),
        (
            ("train", "my-label-columns", "--set=data.train=TRAIN", "--label", "topic"),
            "two label columns or more",
        ),
        (("train", "ONE", *BOTH), "expected two classes or more in label column 'mood', got 'mood: b' alone"),
        (("train", "MARK", "--label", "a: b", "--label", "c"), "must not hold ': '; rename it"),
        (("evaluate", "RUN", "ONE", "--label-separator", ";"), "--label-separator"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line(folder: Path, command: tuple[str, ...], part: str) -> None:
    tiny.write_csv(folder / "one.csv", [("x", "a", "b"), ("y", "c", "b")] * 9, ["text", "topic", "mood"])
    tiny.write_csv(folder / "mark.csv", [("x", "a", "b"), ("y", "c", "d")] * 9, ["text", "a: b", "c"])
    files = {"RUN": "run", "TRAIN": "train.csv", "ONE": "one.csv", "MARK": "mark.csv"}
    given = [str(folder / files[each]) if each in files else each for each in command]
    given = [each.replace("=TRAIN", f"={folder / 'train.csv'}") for each in given]
    result = tiny.run(*given)
    assert result.code in (ExitCode.USAGE, ExitCode.BAD_DATA), result.err
    assert part in result.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--column", "label=topic", "--column", "label=topic"), "the label column 'topic' is named twice"),
        (
            ("--label", "topic", "--label", "mood", "--label", "topic"),
            "the label column 'topic' is named twice",
        ),
        (
            (*BOTH, "--column", "label=text"),
            "data.label: 'text' is the column of the text, which cannot be the label",
        ),
        (("--label", "text"), "data.label: 'text' is the column of the text, which cannot be the label"),
    ],
)
def test_a_label_column_is_named_once_and_is_not_the_text(
    options: tuple[str, ...], said: str, folder: Path, tmp_path: Path
) -> None:
    more = ("--text", "text") if any("text" in each for each in options) else ()
    result = tiny.run("train", folder / "train.csv", *options, *more, "--out", tmp_path / "run", *SETTINGS)
    assert result.code == ExitCode.USAGE
    assert result.err.strip().splitlines()[-1].startswith(f"heedful: {said}")
    assert "Traceback" not in result.err
