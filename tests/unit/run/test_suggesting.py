"""Which texts are suggested for labels: the uncertain ones, unlike each other, each once; and the command."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

import tiny
from heedful.data.examples import Corpus, Example
from heedful.errors import UsageError
from heedful.run import prepare, train
from heedful.run.recipe_files import load_config, override
from heedful.run.suggesting import entropy, farthest_first, margin, suggest
from heedful.tasks import load_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of texts and one of pairs, each trained a little."""
    root = tiny.write_tasks(tmp_path_factory.mktemp("suggest"))
    for name in ("text", "pair", "score"):
        config = override(load_config(str(root / f"{name}.toml")), {"train.epochs": 1})
        train(config, prepare(config, root), folder=root / name)
    return root


def pool(count: int = 60) -> Corpus:
    return Corpus([Example((text,), row=row) for row, (text, _) in enumerate(tiny.texts()[:count], start=1)])


def test_measures_by_hand() -> None:
    rows = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.6, 0.3, 0.1]])
    assert margin(rows).tolist() == pytest.approx([1.0, 0.0, 0.7])
    found = entropy(rows)
    assert found[:2].tolist() == pytest.approx([math.log(2) / math.log(3), 0.0])
    assert entropy(np.full((1, 4), 0.25)).tolist() == pytest.approx([1.0])


def test_rows_far_from_the_chosen_ones_come_next() -> None:
    vectors = np.array([[1, 0], [2, 0.1], [0, 1], [0.1, 1], [-3, 0], [0, 0]], np.float32)
    assert farthest_first(vectors, 1).tolist() == [0]
    assert farthest_first(vectors, 3).tolist() == [0, 4, 2]
    assert sorted(farthest_first(vectors, 6).tolist()) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("by", ["margin", "entropy"])
def test_the_most_uncertain_texts_are_suggested(folder: Path, by: str) -> None:
    model = load_model(folder / "text")
    found = suggest(model, pool(), 5, by=by, candidates=1)
    values = {"margin": margin, "entropy": entropy}[by](
        model.probabilities(model.logits([e.texts[0] for e in pool().examples]))
    )
    assert [one.row - 1 for one in found] == np.argsort(-values, kind="stable")[:5].tolist()
    assert [one.uncertainty for one in found] == sorted((one.uncertainty for one in found), reverse=True)
    assert found[0].texts == (tiny.texts()[found[0].row - 1][0],)


def test_texts_unlike_each_other_are_chosen_among_the_uncertain(folder: Path) -> None:
    model = load_model(folder / "text")
    wide, plain = suggest(model, pool(), 5, candidates=6), suggest(model, pool(), 5, candidates=1)
    among = suggest(model, pool(), 30, candidates=1)
    assert wide[0] == plain[0]
    assert {one.row for one in wide} <= {one.row for one in among}
    assert {one.row for one in wide} != {one.row for one in plain}
    assert len({one.row for one in wide}) == 5


def test_each_text_once_and_none_without_words(folder: Path) -> None:
    model = load_model(folder / "text")
    corpus = Corpus(
        [Example((text,), row=row) for row, text in enumerate(["a film", " ", "a film", "a meal"], 1)]
    )
    found = suggest(model, corpus, 10)
    assert sorted(one.row for one in found) == [1, 4]
    assert suggest(model, Corpus([Example(("",))]), 3) == []
    for wrong in ({"count": 0}, {"count": 1, "candidates": 0}):
        with pytest.raises(UsageError):
            suggest(model, corpus, **wrong)


def test_random_choice_depends_on_its_seed_alone(folder: Path) -> None:
    model = load_model(folder / "text")
    rows = [[one.row for one in suggest(model, pool(), 8, by="random", seed=seed)] for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]
    assert len(set(rows[0])) == 8


def test_the_command_writes_csv_and_json_lines(folder: Path, tmp_path: Path) -> None:
    file = tiny.write_csv(tmp_path / "pool.csv", [['a "bleak", film'], ["a meal"], ["a song"]], ["text"])
    shown = tiny.run("suggest", folder / "text", file, "-n", "2")
    assert shown.code == 0, shown.err
    lines = [json.loads(line) for line in shown.out.splitlines()]
    assert [set(line) for line in lines] == [{"row", "text", "answer", "probability", "uncertainty"}] * 2
    for name in ("next.csv", "next.jsonl"):
        assert tiny.run("suggest", folder / "text", file, "-n", "2", "--output", tmp_path / name).code == 0
    with (tmp_path / "next.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(int(row["row"]), row["text"]) for row in rows] == [(line["row"], line["text"]) for line in lines]
    assert [
        json.loads(line) for line in (tmp_path / "next.jsonl").read_text(encoding="utf-8").splitlines()
    ] == lines


def test_the_command_takes_pairs_and_refuses_other_models(folder: Path, tmp_path: Path) -> None:
    done = tiny.run("suggest", folder / "pair", folder / "pair-test.tsv", "-n", "3", "--by", "entropy")
    assert done.code == 0, done.err
    assert [{"premise", "hypothesis"} <= set(json.loads(line)) for line in done.out.splitlines()] == [
        True
    ] * 3
    assert tiny.run("suggest", folder / "score", folder / "score-test.jsonl").code == 2
    assert tiny.run("suggest", folder / "text", folder / "text.csv", "--output", tmp_path / "a.txt").code == 2
    assert tiny.run("suggest", folder / "text", tmp_path / "none.csv").code == 3
