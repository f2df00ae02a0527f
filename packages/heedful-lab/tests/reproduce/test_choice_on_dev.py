"""The dev split chooses a setting for each system: with the first seed, and the runs of the others follow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heedful_lab.reproduce import cell_runs, runner
from heedful_lab.reproduce.cell_runs import read_runs
from heedful_lab.reproduce.plan import Choice, experiments
from heedful_lab.reproduce.runner import Budget, Cell, chosen, run_cell
from made_runs import SYSTEMS


@pytest.fixture
def cell(declared: Path, monkeypatch: pytest.MonkeyPatch) -> Cell:
    known = {"tiny": replace(runner.experiments()["tiny"], choice=Choice("model.dropout", ("0.1", "0.5")))}
    for module in (runner, cell_runs):
        monkeypatch.setattr(module, "experiments", lambda: known)
    return Cell(known["tiny"], next(iter(SYSTEMS.values())), Budget())


def test_every_value_is_tried_with_the_first_seed_and_the_best_one_runs_all(
    cell: Cell, declared: Path, tmp_path: Path
) -> None:
    assert [one.value for one in cell.tries] == ["0.1", "0.5"]
    assert [one.changes[-1] for one in cell.tries] == ["model.dropout=0.1", "model.dropout=0.5"]
    assert all(len(one.runs) == 1 for one in cell.tries)
    before = read_runs(cell, tmp_path / "runs")
    assert (before.found, before.lacking) == ((), 3)
    run_cell(cell, declared, tmp_path / "runs")
    tried = [read_runs(one, tmp_path / "runs").found[0] for one in cell.tries]
    best = chosen(cell, tried)
    figures = [record.figures.dev.metrics["accuracy"] for record in tried]
    assert best.value == ["0.1", "0.5"][figures.index(max(figures))]
    found = read_runs(cell, tmp_path / "runs")
    assert found.cell == best
    assert (len(found.found), found.lacking) == (2, 0)
    assert {record.settings["model"]["dropout"] for record in found.found} == {float(best.value)}
    kept = sorted(folder.name for folder in (tmp_path / "runs" / "standard" / "tiny").iterdir())
    assert kept == [f"{cell.system.name}@0.1", f"{cell.system.name}@0.5"]


def test_a_value_that_was_not_tried_leaves_the_choice_open(
    cell: Cell, declared: Path, tmp_path: Path
) -> None:
    run_cell(cell.tries[0], declared, tmp_path / "runs")
    found = read_runs(cell, tmp_path / "runs")
    assert (found.found, found.lacking) == ((), 2)


def test_systems_with_the_same_effort_take_equally_many_steps() -> None:
    named = [one for name, one in experiments().items() if name.endswith("-effort")]
    assert len(named) == 5
    for one in named:
        assert one.choice is not None
        assert len(one.choice.values) == 3
        words = " ".join(one.settings)
        for setting in (
            "train.epochs=0",
            "train.max_steps=",
            "warmup_steps",
            "weight_average",
            "text.random=uniform",
        ):
            assert setting in words, (one.name, setting)
        assert not [word for own in one.own.values() for word in own.settings if "steps" in word]
