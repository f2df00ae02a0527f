"""A table as a cloud of points, from made-up runs; and figures that a run may lack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heedful.errors import UsageError
from heedful.run.record import PartFigures
from heedful_lab.reproduce import find_table
from heedful_lab.reproduce.cell_runs import Result, gather
from heedful_lab.reproduce.plan import Column, Row
from heedful_lab.reproduce.runner import Budget
from heedful_lab.reproduce.scatter import draw_scatter, points
from made_runs import TABLE, record, write, write_record

COLUMNS = (
    Column("memory", "memory", "tiny", "peak_megabytes", 1.0, 0),
    Column("time", "time", "tiny", "test.seconds", 1.0, 1),
    Column("right", "accuracy", "tiny", "test.metrics.accuracy", 100.0, 1),
)
ROWS = (
    Row("Ours", "ours", {"memory": "942MB", "time": "9.1s", "right": "85.0"}, ""),
    Row("Other", "other", {"memory": "208MB", "right": "83.2"}, ""),
)


def made(folder: Path) -> Result:
    table = replace(TABLE, columns=COLUMNS, rows=ROWS, scatter=("memory", "time", "right"))
    return gather(table, Budget(), folder)


def test_points_are_the_rows_with_all_three_figures(declared: Path, tmp_path: Path) -> None:
    write(tmp_path, "other", (8, 6))
    assert points(made(tmp_path), paper=True) == [("Ours", 942.0, 9.1, 85.0)]
    assert points(made(tmp_path), paper=False) == [("Other", 101.5, 0.5, pytest.approx(70.0))]
    file = draw_scatter(made(tmp_path), tmp_path / "a.png")
    assert file.read_bytes() == draw_scatter(made(tmp_path), tmp_path / "b.png").read_bytes()


def test_nothing_to_draw_is_refused(declared: Path, tmp_path: Path) -> None:
    empty = made(tmp_path)
    bare = replace(empty, table=replace(empty.table, rows=ROWS[1:]))
    with pytest.raises(UsageError, match="no row has memory, time, right"):
        draw_scatter(bare, tmp_path / "a.png")


def test_figure_1c_of_mtsa_has_the_numbers_of_its_table_1() -> None:
    figure, table = find_table("mtsa-figure1c"), find_table("mtsa-table1")
    printed = {row.name: row.paper for row in table.rows if "memory" in row.paper}
    assert {row.name for row in figure.rows} == set(printed)
    assert len(printed) == 8
    for row in figure.rows:
        assert dict(row.paper) == {key: printed[row.name][key] for key in figure.scatter}


def test_a_run_without_figures_of_its_training_split_leaves_their_cell_empty(
    declared: Path, tmp_path: Path
) -> None:
    column = Column("train", "train", "tiny", "train.metrics.accuracy", 100.0, 1)
    kept = record("ours", 1, 8)
    kept = replace(kept, figures=replace(kept.figures, train=PartFigures({"accuracy": 0.9})))
    write_record(tmp_path, "ours", kept)
    write(tmp_path, "other", (8,))
    result = gather(replace(TABLE, columns=(column,), rows=ROWS), Budget(), tmp_path)
    assert [result.figure(row, column).values for row in ROWS] == [(90.0,), ()]


def test_a_run_kept_without_that_figure_still_is_the_run(declared: Path, tmp_path: Path) -> None:
    budget = Budget(overrides=("train.evaluate_train=true",))
    write(tmp_path, "ours", (8,))
    (ours, *_) = gather(TABLE, budget, tmp_path).cells
    assert len(ours.found) == 1
    (ours, *_) = gather(TABLE, Budget(overrides=("train.log_every=7",)), tmp_path).cells
    assert (ours.found, len(ours.unlike)) == ((), 1)


@pytest.mark.parametrize("name", ["disan-table1", "mtsa-table1", "decomposable-table1"])
def test_the_train_columns_are_of_experiments_that_measure_it(name: str) -> None:
    from heedful.run.recipe_files import load_config
    from heedful_lab.reproduce.runner import plan_cells

    table = find_table(name)
    (column,) = (column for column in table.columns if column.key == "train")
    assert column.figure == "train.metrics.accuracy"
    cells = [cell for cell in plan_cells(table, Budget()) if cell.experiment.name == column.experiment]
    assert cells
    assert {cell.experiment.name for cell in cells} == {"snli-own"}
    for cell in cells:
        assert load_config(cell.recipe, cell.changes).train.evaluate_train
