"""MultiNLI by genre: the dev part that is cut from the training part knows its genres, and the table shows them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import tiny
from heedful_lab.reproduce.cell_runs import gather
from heedful_lab.reproduce.making import narrow
from heedful_lab.reproduce.plan import Table, find_table
from heedful_lab.reproduce.runner import Budget, plan_cells

GENRES = ("fiction", "government", "slate", "telephone", "travel")
SMALL = ("text.vectors=", "text.baseforms=", "model.width=8", "model.hidden=8", "train.max_steps=2")


def write_multinli(folder: Path) -> Path:
    """Write a training part of which every other pair names its genre, and a matched dev part that names none."""
    (folder / "multinli").mkdir(parents=True)
    labels = ("entailment", "neutral", "contradiction")
    for name, size in (("train_part", 400), ("dev_matched", 12)):
        genres = itertools.cycle(GENRES if name == "train_part" else ("",))
        rows = [
            {
                "gold_label": labels[k % 3],
                "sentence1": f"A {tiny.ANIMALS[k % 6]} {tiny.ACTIONS[k % 4]} .",
                "sentence2": f"It {tiny.ACTIONS[k % 3]} .",
                **({"genre": next(genres)} if k % 2 else {}),
            }
            for k in range(size)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "multinli" / f"multinli_1.0_{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def disan_in_the_same_recipe() -> Table:
    """Return DiSAN's row of Table 3 with the columns of the part at hand under the shared recipe."""
    table = find_table("disan-table3")
    return narrow(table, ["disan"], [one.key for one in table.columns if one.experiment == "multinli-part"])


def test_every_genre_has_its_column(tmp_path: Path) -> None:
    table, data = disan_in_the_same_recipe(), write_multinli(tmp_path / "data")
    budget = Budget(seeds=(1,), overrides=("train.device=cpu", *SMALL))
    (cell,) = plan_cells(table, budget)
    done = tiny.run(*cell.arguments(), "--data", data, "--out", tmp_path / "runs" / cell.folder, "--quiet")
    assert done.code == 0, done.err
    result = gather(table, budget, tmp_path / "runs")
    (runs,) = result.runs.values()
    dev = runs.found[0].figures.dev
    (row,) = table.rows
    shown = {column.head: result.figure(row, column).values for column in table.columns if column.experiment}
    assert shown.pop("matched dev, 64,219 pairs, same recipe") == (
        100 * runs.figures("test.metrics.accuracy")[0],
    )
    assert shown == {f"dev, {genre}": (100 * dev.by_group[genre]["accuracy"],) for genre in GENRES}
    assert sum(group["count"] for group in dev.by_group.values()) == dev.count
