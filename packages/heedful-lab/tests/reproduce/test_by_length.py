"""A table by sentence length as a picture, from made-up runs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure

from heedful.errors import MissingExtraError, UsageError
from heedful.run.record import Groups, PartFigures, RunFigures, RunRecord
from heedful.storage.layout import SEED, Varied
from heedful_lab.reproduce.by_length import draw_by_length, length_columns, paint_by_length
from heedful_lab.reproduce.cell_runs import Result, Runs
from heedful_lab.reproduce.plan import Column, Row, System, Table, experiments, find_table
from heedful_lab.reproduce.runner import Budget, Cell
from made_runs import PROTOCOL

BINS = ("0-5", "6-10", "11-15")
COUNTS = (7, 30, 12)
COLUMNS = tuple(Column(name, name, "sst5", f"test.by_length.{name}.accuracy", 100.0, 1) for name in BINS)
ROWS = (Row("Ours", "ours", {}, ""), Row("Other", "other", {}, ""), Row("Not run", "absent", {}, ""))
TABLE = Table("by-length", "By length", COLUMNS, ROWS, "", (), "", "")


def runs(system: str, *seeds: tuple[float, ...], counted: bool = True) -> Runs:
    """Make runs from their accuracies by bin."""
    found = []
    for seed, values in enumerate(seeds, start=1):
        bins: Groups = {
            name: {"accuracy": value, **({"count": count} if counted else {})}
            for name, value, count in zip(BINS, values, COUNTS, strict=True)
        }
        figures = RunFigures(PartFigures({}), PartFigures({}, by_length=bins))
        found.append(RunRecord(Varied(SEED, seed), PROTOCOL, {}, figures))
    return Runs(Cell(experiments()["sst5"], System(system, (), {}), Budget()), tuple(found))


def result(counted: bool = True) -> Result:
    two = runs("ours", (0.5, 0.6, 0.4), (0.7, 0.6, 0.5), counted=counted)
    one = runs("other", (0.2, 0.3, 0.1), counted=counted)
    return Result(TABLE, Budget(), (two, one))


def painted(made: Result) -> tuple[dict[str, ErrorbarContainer], list[float]]:
    """Return the lines by their names, and the heights of the bars behind them."""
    figure = Figure()
    axes = figure.subplots()
    paint_by_length(axes, made)
    assert [label.get_text() for label in axes.get_xticklabels()] == list(BINS)
    assert axes.get_ylabel() == "accuracy, %"
    lines = {line.get_label(): line for line in axes.containers if isinstance(line, ErrorbarContainer)}
    bars = [one for other in figure.axes for one in other.containers if isinstance(one, BarContainer)]
    return lines, [bar.get_height() for each in bars for bar in each]


def test_a_model_is_a_line_with_the_spread_of_its_runs() -> None:
    lines, bars = painted(result())
    assert list(lines) == ["Ours", "Other"]
    assert list(lines["Ours"].lines[0].get_ydata()) == pytest.approx([60.0, 60.0, 45.0])
    assert list(lines["Other"].lines[0].get_ydata()) == pytest.approx([20.0, 30.0, 10.0])
    ((bounds,),) = (line.lines[2] for name, line in lines.items() if name == "Ours")
    heights = [float(np.ptp(segment[:, 1])) for segment in bounds.get_segments()]
    assert heights == pytest.approx([2 * 10 * 2**0.5, 0.0, 2 * 5 * 2**0.5])
    colors = {line.lines[0].get_color() for line in lines.values()}
    assert len(colors) == 2
    assert bars == list(COUNTS)


def test_without_counts_there_are_no_bars() -> None:
    lines, bars = painted(result(counted=False))
    assert (len(lines), bars) == (2, [])


def test_folds_answer_different_examples() -> None:
    made = result()
    ours = made.runs["sst5", "ours"]
    folded = replace(ours.cell, experiment=replace(ours.cell.experiment, folds=2))
    _, bars = painted(replace(made, cells=(replace(ours, cell=folded),)))
    assert bars == [2 * count for count in COUNTS]


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_the_file_is_written_and_is_the_same_twice(tmp_path: Path, suffix: str, start: bytes) -> None:
    first = draw_by_length(result(), tmp_path / f"a{suffix}", dpi=60).read_bytes()
    assert first.startswith(start)
    assert first == draw_by_length(result(), tmp_path / f"b{suffix}", dpi=60).read_bytes()


def test_figure_5_is_by_length_and_other_tables_are_not() -> None:
    assert len(length_columns(find_table("disan-figure5"))) == 8
    assert length_columns(find_table("disan-table2")) == ()


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for nothing in (replace(result(), cells=()), replace(result(), table=find_table("disan-table2"))):
        with pytest.raises(UsageError, match="no figures by sentence length to draw"):
            draw_by_length(nothing, tmp_path / "f.png")
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf"):
        draw_by_length(result(), tmp_path / "f.jpg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"heedful\[plot\]"):
        draw_by_length(result(), tmp_path / "f.png")
    assert list(tmp_path.iterdir()) == []
