"""How the dev figure rose, below a table of converged runs and as a picture, from made-up runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from heedful.errors import UsageError
from heedful_lab.reproduce import learning_curves, making
from heedful_lab.reproduce.cell_runs import Result, gather
from heedful_lab.reproduce.learning_curves import draw_learning_curves
from heedful_lab.reproduce.making import make
from heedful_lab.reproduce.runner import Budget, Order
from heedful_lab.reproduce.table_text import to_markdown
from made_runs import ROWS, TABLE, record, write, write_record

CONVERGED = Budget("converged")


@pytest.fixture
def result(declared: Path, tmp_path: Path) -> Result:
    """Two runs of one row and one of another, of five, three and two epochs."""

    def rising(system: str, seed: int, *values: float) -> None:
        kept = record(system, seed, 9)
        epochs, best = len(values), values.index(max(values)) + 1
        curve = {str(epoch): value for epoch, value in enumerate(values, start=1)}
        figures = replace(
            kept.figures, epochs=epochs, steps=10 * epochs, best_step=10 * best, dev_by_epoch=curve
        )
        write_record(tmp_path, system, replace(kept, figures=figures))

    rising("ours", 1, 0.5, 0.6, 0.7, 0.8, 0.75)
    rising("ours", 2, 0.6, 0.7, 0.7)
    rising("other", 1, 0.5, 0.4)
    return gather(TABLE, Budget(), tmp_path)


def test_a_table_of_converged_runs_says_how_the_dev_figure_rose(result: Result, tmp_path: Path) -> None:
    assert "after each epoch" not in to_markdown(result, "")
    assert (
        "| tiny, epoch | 1 | 2 | 3 | 5 | best |\n| --- | --- | --- | --- | --- | --- |\n"
        "| Ours | 55.0 | 65.0 | 70.0 |  | 3 |\n| Other | 50.0 | 40.0 |  |  | 1 |\n\n"
        in to_markdown(replace(result, budget=CONVERGED), "")
    )
    write(tmp_path, "other", (2,))  # kept without its curve, as by earlier versions
    again = replace(gather(TABLE, Budget(), tmp_path), budget=CONVERGED)
    assert "| Ours | 55.0 | 65.0" in to_markdown(again, "")
    assert "| Other | 50.0 | 40.0" not in to_markdown(again, "")


@pytest.mark.parametrize("figure", ["peak_megabytes", "dev.seconds"])
def test_a_first_column_of_memory_or_time_does_not_change_the_unit(result: Result, figure: str) -> None:
    cost = replace(TABLE.columns[0], key="cost", figure=figure, scale=1.0, digits=0)
    for columns in ((cost, *TABLE.columns), (cost,)):
        table = replace(result.table, columns=columns)
        text = to_markdown(replace(result, table=table, budget=CONVERGED), "")
        assert "| Ours | 55.0 | 65.0 | 70.0 |  | 3 |" in text


def test_the_picture_has_a_line_a_run_by_passes_and_by_minutes(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Figure] = []

    def kept(path: str, paint: Callable[[], Figure], what: str, dpi: int) -> None:
        drawn.append(paint())

    monkeypatch.setattr(learning_curves, "write_figure", kept)
    draw_learning_curves(result, "curves.png")
    left, right = drawn[0].axes
    assert [len(axes.lines) for axes in (left, right)] == [3, 3]
    assert np.asarray(left.lines[2].get_xydata()).tolist() == [[1.0, 50.0], [2.0, 40.0]]
    assert np.asarray(right.lines[2].get_xydata()).tolist() == [
        [0.025, 50.0],
        [0.05, 40.0],
    ]  # 1.5 seconds an epoch
    assert left.lines[0].get_color() == left.lines[1].get_color() != left.lines[2].get_color()
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["Ours", "Other"]


def test_without_curves_there_is_no_picture(result: Result, tmp_path: Path) -> None:
    write(tmp_path, "other", (2,))
    bare = gather(replace(TABLE, rows=ROWS[1:2]), Budget(), tmp_path)
    with pytest.raises(UsageError, match="no run kept its dev figures"):
        draw_learning_curves(bare, tmp_path / "curves.png")


def test_the_command_draws_it_for_converged_runs_alone(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "gather", lambda *_: result)
    said: list[str] = []
    make(TABLE, Order(None, tmp_path, Budget(), run=False, print_line=said.append))
    assert not list(tmp_path.glob("*.png"))
    monkeypatch.setattr(making, "plan_cells", lambda *_: [])
    make(TABLE, Order(None, tmp_path, CONVERGED, run=False, print_line=said.append))
    assert (tmp_path / "tiny-table1-curves.png").stat().st_size > 10_000
    assert any("tiny-table1-curves.png" in line for line in said)
