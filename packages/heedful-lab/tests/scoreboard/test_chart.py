"""``heedful baselines --sizes``: whole systems at several numbers of labels, kept cell by cell."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from heedful.baselines.splits import Split, Splits
from heedful.errors import DataError, UsageError
from heedful.tasks.prepared import Protocol
from heedful_lab.scoreboard.cell_file import Cell, add_cell, read_cells
from heedful_lab.scoreboard.chart import CELLS, PICTURE, TABLE, parse_sizes
from heedful_lab.scoreboard.chart_figure import draw_chart
from heedful_lab.scoreboard.chart_table import markdown_page, summaries
from heedful_lab.scoreboard.drawn_labels import draw, with_dev
from heedful_lab.scoreboard.entrants import entrants
from heedful_lab.scoreboard.installed_size import installed_megabytes, package_megabytes
from tiny_encoder import write_encoder

CELL = Cell("trec", 100, 1, "a", "ours", 100, 50, 40, 0.1, 0.5, 2.0, 900.0, 1.0, 60.0, 3.0, 12)
LIGHT = ["--without", "spaCy", "--without", "fastText", "--without", "taught", "--without", "fine-tuned"]


def splits(classes: list[int], selects: str = "cut") -> Splits:
    texts = [(f"text {number}",) for number in range(len(classes))]
    whole, few = Split(texts, np.array(classes)), Split([("held",), ("out",)], np.array([0, 1]))
    return Splits("text", ("a", "b", "c"), whole, few, few, Protocol("files", selects), seed=4)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("chart")
    write_encoder(root / "encoder")
    tiny.write_csv(root / "train.csv", tiny.texts()[:60], ["text", "label"])
    tiny.write_csv(root / "test.csv", tiny.texts()[60:100], ["text", "label"])
    return root


def measuring(data: Path) -> list[Any]:
    """Return the command that measures with 20 labels."""
    test = f"data.test={data / 'test.csv'}"
    return ["baselines", data / "train.csv", "--set", test, "--sizes", "20", "-q"]


def test_a_command_measures_every_system_and_goes_on_where_it_was(data: Path, tmp_path: Path) -> None:
    command = [*measuring(data), "--transformer", data / "encoder", "--out", tmp_path, *LIGHT]
    first = tiny.run(*command, "--without", "SetFit", "--without", "frozen", "--json")
    assert first.code == 0, first.err
    found = first.json()
    assert not found["failed"]
    names = {cell["system"] for cell in found["cells"]}
    assert {"Heedful, default", "NB-SVM (words 1-2)", "TF-IDF (words 1-2) + logistic regression"} <= names
    for cell in found["cells"]:
        assert (cell["rows"], cell["tested"], cell["labels"]) == (20, 40, 20)
        assert 0 <= cell["right"] <= 40
        assert cell["ms"] > 0
        assert cell["texts_per_second"] > 0
        assert cell["installed"] > cell["megabytes"] > 0
        assert cell["log_loss"] > 0
    before = (tmp_path / CELLS).read_bytes()
    again = tiny.run(*command, "--without", "NB-SVM")
    assert again.code == 0, again.err
    after = (tmp_path / CELLS).read_bytes()
    assert after.startswith(before), "what is there is not measured again"
    added = {json.loads(line)["system"] for line in after[len(before) :].splitlines()}
    assert added == {"encoder, frozen + logistic regression", "encoder, SetFit's way"}
    page = (tmp_path / TABLE).read_text(encoding="utf-8")
    assert again.out.strip() == page.strip()
    assert "| encoder, SetFit's way |" in page
    assert "- left out: NB-SVM (words 1-2): left out by --without" in page
    assert (tmp_path / PICTURE).read_text(encoding="utf-8").startswith("<?xml")


def test_times_are_left_out_and_taken_later(data: Path, tmp_path: Path) -> None:
    command = [*measuring(data), "--out", tmp_path, *LIGHT, "--without", "SVM"]
    first = tiny.run(*command, "--times", "without", "--json")
    assert first.code == 0, first.err
    cells = first.json()["cells"]
    assert {(cell["ms"], cell["texts_per_second"], cell["train_seconds"]) for cell in cells} == {(0, 0, 0)}
    assert not (tmp_path / PICTURE).exists()
    then = tiny.run(*command, "--times", "only", "--json")
    assert then.code == 0, then.err
    for old, new in zip(cells, then.json()["cells"], strict=True):
        assert min(new["ms"], new["texts_per_second"], new["train_seconds"]) > 0
        assert {**new, "ms": 0, "texts_per_second": 0, "train_seconds": 0} == old
    assert (tmp_path / PICTURE).exists()
    shutil.rmtree(tmp_path / "runs")
    gone = tiny.run(*command, "--times", "only", "--json").json()
    assert [cell["right"] for cell in gone["cells"]] == [cell["right"] for cell in cells]
    assert "Heedful, default on train: its run is no longer in" in gone["failed"][0]
    alone = tiny.run("baselines", data / "train.csv", "--times", "only", "-q")
    assert (alone.code, "--times goes with --sizes" in alone.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sizes", "20"], "give --out DIR"),
        (["--sizes", "20", "--out", "{}", "--with", "disan"], "leave --with"),
        (["--sizes", "few", "--out", "{}"], "expected numbers of labels"),
        (["--sizes", "1", "--out", "{}"], "expected numbers of labels"),
        (["--sizes", "900", "--out", "{}"], "has 60 training examples; --sizes asks for 900"),
        (["--sizes", "20", "--out", "{}", "--transformer", "{}/none"], "is no encoder of transformers"),
        (["--transformer", "{}"], "--transformer goes with --sizes"),
    ],
)
def test_what_does_not_suit_is_refused_in_one_line(
    data: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    given = [each.format(tmp_path) for each in options]
    done = tiny.run("baselines", data / "train.csv", "--set", f"data.test={data / 'test.csv'}", "-q", *given)
    assert done.code in (2, 3)
    assert said in done.err.splitlines()[-1]


def test_without_the_laboratory_a_line_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: Path
) -> None:
    monkeypatch.setattr("heedful.cli.plugins.installed", lambda group: {})
    done = tiny.run(*measuring(data), "--out", tmp_path)
    assert done.code == 2
    assert "heedful baselines --sizes" in done.err
    assert "heedful-lab" in done.err.splitlines()[-1]


def test_sizes_are_numbers_and_all() -> None:
    assert parse_sizes("100, 1000,all,100") == (100, 1000, 0)


def test_cells_survive_a_line_that_was_cut_off_and_refuse_another_file(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    add_cell(file, CELL)
    with file.open("a") as stream:
        stream.write('{"data": "tr')
    assert read_cells(file) == [CELL]
    add_cell(file, replace(CELL, seed=2))
    assert [cell.seed for cell in read_cells(file)] == [1, 2]
    file.write_text('{"other": 1}\n')
    with pytest.raises(DataError, match=r"cells\.jsonl, line 1: is no cell"):
        read_cells(file)


def test_a_draw_has_every_class_and_exactly_so_many_labels(tmp_path: Path) -> None:
    classes = [0] * 30 + [1] * 30 + [2] * 3
    found = draw("x", splits(classes), 6, tmp_path)
    assert np.bincount(found.splits.train.classes).tolist() == [2, 2, 2]
    assert found.splits.dev is None
    assert len(found.unlabeled) == 59, "what dev was cut from training joins it, and nothing is drawn twice"
    assert set(found.unlabeled).isdisjoint(text for (text,) in found.splits.train.texts)
    assert len(draw("x", splits(classes), 5, tmp_path).splits.train) == 5, "too few for two of each class"
    assert len(draw("x", splits(classes), 0, tmp_path).splits.train) == 65
    assert len(draw("x", splits(classes, "dev"), 0, tmp_path).splits.train) == 63, (
        "a dev split of its own is left"
    )
    assert found.splits.train.equals(draw("x", splits(classes), 6, tmp_path).splits.train)
    assert draw("x", splits(classes), 0, tmp_path).unlabeled_file() is None
    held = with_dev(found.splits)
    assert held.dev is not None
    assert (len(held.train), len(held.dev)) == (5, 1)


def test_texts_with_commas_quotes_and_lines_are_written_as_they_are(tmp_path: Path) -> None:
    text = 'a "b", c\nd — é'
    odd = replace(splits([0, 1]), dev=None, train=Split([(text,), ("e",)], np.array([0, 1])))
    import csv

    with draw("x", odd, 0, tmp_path).train_file().open(encoding="utf-8", newline="") as file:
        assert sorted(csv.reader(file))[:2] == [[text, "a"], ["e", "b"]]


def test_pairs_and_data_without_a_test_split_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no test split"):
        draw("x", replace(splits([0, 1]), test=None), 2, tmp_path)
    pair = replace(splits([0, 1]), train=Split([("a", "b"), ("c", "d")], np.array([0, 1])))
    with pytest.raises(UsageError, match="compares classifiers of texts"):
        draw("x", pair, 2, tmp_path)


def test_the_table_means_draws_and_data_and_names_what_is_missing() -> None:
    other = replace(CELL, data="cr", tested=100, right=90)
    both = [CELL, replace(CELL, seed=2, right=30), other, replace(CELL, system="b", group="simple", right=45)]
    found = summaries(both, interval=False)
    assert [(row.system, round(row.accuracy, 3)) for row in found] == [("b", 0.9), ("a", 0.8)]
    page = markdown_page(both, {"fastText": "is not installed"}, ["spaCy on cr: broke"])
    assert "## 100 labels, mean of trec, cr" in page
    assert "Mean of 2 draws; 50 test examples." in page
    assert "- left out: fastText: is not installed" in page
    assert "- failed: spaCy on cr: broke" in page
    assert page.count("| b |") == 1, "a system that lacks a data set has no mean"


def test_the_picture_shows_every_system_and_needs_a_cell(tmp_path: Path) -> None:
    cells = [CELL, replace(CELL, system="b", group="simple", ms=0.1), replace(CELL, labels=0)]
    first = draw_chart(cells, tmp_path / "a.svg").read_bytes()
    assert draw_chart(cells, tmp_path / "b.svg").read_bytes() == first
    assert draw_chart(cells[:1], tmp_path / "c.svg").read_bytes() != first
    with pytest.raises(UsageError, match="nothing to draw"):
        draw_chart([replace(CELL, ms=0.0)], tmp_path / "d.svg")


def test_libraries_that_are_not_installed_are_said(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    monkeypatch.setattr("heedful_lab.scoreboard.entrants.find_spec", lambda name: None)
    found, skipped = entrants([data / "encoder"])
    assert "pip install 'heedful[spacy]'" in skipped["spaCy, ensemble"]
    assert "pip install 'heedful[transformers]'" in skipped["encoder, SetFit's way"]
    assert [entrant.name for entrant in found][-1] == "Heedful, default"


def test_installed_packages_are_counted_with_what_they_require() -> None:
    assert installed_megabytes(["scikit-learn"]) > installed_megabytes(["numpy"]) > 5
    assert installed_megabytes(["there-is-no-such-package"]) == 0
    assert package_megabytes("heedful") > 1
    assert package_megabytes("there_is_no_such_package") == 0
