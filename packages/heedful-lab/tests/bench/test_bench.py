from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from heedful.errors import ExitCode, UsageError
from heedful_lab.bench import (
    BenchPlan,
    BenchRefused,
    BenchReport,
    draw,
    joined,
    run_bench,
    verify,
    write,
)
from heedful_lab.bench import bench_run as run_file
from heedful_lab.bench import verify as verify_function
from heedful_lab.bench.cases import Shape, cases
from heedful_lab.bench.timing import Ceiling

PLAN = BenchPlan(lengths=(4, 6), batch=2, width=8)


@pytest.fixture(scope="module")
def report() -> BenchReport:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_file, "measure_ceiling", lambda: Ceiling(100.0, 10.0))
        patch.setattr("heedful_lab.bench.timing._SHORTEST", 0.0)
        return run_bench(PLAN)


def test_everything_is_checked_and_timed(report: BenchReport) -> None:
    assert {"DiSA chunked", "MTSA matrix"} <= set(report.checked)
    names = {row.name for row in report.rows}
    peers = {"plain torch DiSA", "plain torch MTSA", "bare SDPA", "nn.MultiheadAttention", "Bi-LSTM"}
    assert (
        peers | {"three convolutions", "DiSA layer", "MTSA layer", "MTSA encoder"} | set(report.checked)
        == names
    )
    for row in report.rows:
        assert row.milliseconds > 0
        assert row.megabytes > 0
        assert row.ceiling > 0
    assert {row.length for row in report.rows} == {4, 6}


def test_tables_name_the_peer_and_the_ratio(report: BenchReport) -> None:
    text = report.markdown()
    assert "## Operations, 4 tokens, 2 sentences" in text
    assert "## Layers, 6 tokens, 2 sentences" in text
    lines = [line for line in text.splitlines() if line.startswith("| MTSA layer")]
    assert len(lines) == 2
    assert all("| nn.MultiheadAttention |" in line for line in lines)
    assert "proved equal to the float64 reference first: " in text


def test_files_hold_the_same_rows(report: BenchReport, tmp_path: Path) -> None:
    paths = write(report, tmp_path)
    assert [p.name for p in paths] == ["bench.md", "bench.json", "bench.csv"]
    loaded = json.loads((tmp_path / "bench.json").read_text())
    with open(tmp_path / "bench.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(loaded["rows"]) == len(rows) == len(report.rows) >= 20
    assert loaded["rows"][0]["name"] == rows[0]["name"]


def test_figure_is_drawn(report: BenchReport, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert draw(report, tmp_path / "figure.png").stat().st_size > 10_000
    single = replace(report, rows=tuple(r for r in report.rows if r.length == 4))
    with pytest.raises(UsageError, match="two lengths or more"):
        draw(single, tmp_path / "single.png")


def test_lengths_measured_apart_are_joined(report: BenchReport) -> None:
    parts = [replace(report, rows=tuple(r for r in report.rows if r.length == length)) for length in (6, 4)]
    assert joined(parts).rows == report.rows
    with pytest.raises(UsageError, match="twice at the same length"):
        joined([parts[0], report])
    with pytest.raises(UsageError, match="other machines"):
        joined([parts[0], replace(parts[1], machine={"threads": "64"})])


def test_a_wrong_implementation_stops_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    from heedful_lab.bench import verify as package_name

    right = package_name.__globals__["additive_forms"]()["chunked"]

    def wrong(*arguments):
        result = right(*arguments)
        result.output.data[0, -1] *= 1.001
        return result

    monkeypatch.setitem(package_name.__globals__, "additive_forms", lambda: {"chunked": wrong})
    with pytest.raises(BenchRefused, match=r"DiSA chunked at length .* nothing is timed") as error:
        run_bench(PLAN)
    assert error.value.exit_code == ExitCode.GATE_FAILED


def test_nothing_to_check_is_refused_too() -> None:
    with pytest.raises(BenchRefused, match="checked no implementation"):
        verify_function([])
    assert len(verify([c for c in cases(8) if c.ours])) >= 2


def test_a_case_that_is_too_slow_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "measure_ceiling", lambda: Ceiling(100.0, 10.0))
    said: list[str] = []
    plan = BenchPlan(lengths=(4,), batch=2, width=8, slowest=1e-9)
    with pytest.raises(UsageError, match="every case is slower"):
        run_bench(plan, said.append)
    assert any("left out from 4 tokens on: " in line for line in said)


def test_a_pairwise_case_that_would_fill_the_memory_is_left_out() -> None:
    case, plan = (
        next(c for c in cases(8) if c.name == "plain torch DiSA"),
        BenchPlan(pairwise_cells=8 * 8 * 8),
    )
    assert run_file._first_step(case, Shape(1, 17, 8), plan) == (None, "2.3e+03 numbers a tensor")
    assert run_file._first_step(case, Shape(1, 16, 8), plan)[0] is not None


def test_a_pairwise_case_runs_on_fewer_sentences() -> None:
    case = next(c for c in cases(8) if c.name == "plain torch DiSA")
    assert run_file._affordable(case, Shape(64, 16, 8), 16 * 16 * 8 * 4) == (Shape(4, 16, 8), 16.0)
    other = next(c for c in cases(8) if c.name == "DiSA chunked")
    assert run_file._affordable(other, Shape(64, 16, 8), 1) == (Shape(64, 16, 8), 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repeats": 3}, "repeats must be at least 7"),
        ({"lengths": ()}, "must name at least one length"),
        ({"width": 10}, "multiple of 4"),
    ],
)
def test_plans_are_checked(change: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        BenchPlan(**change)


def test_long_sentences_keep_the_number_of_tokens() -> None:
    plan = BenchPlan()
    assert [plan.shape(n).batch for n in (16, 256, 512, 2048, 10**6)] == [64, 64, 32, 8, 1]


def test_threads_are_left_alone() -> None:
    before = torch.get_num_threads()
    cases(8)
    assert torch.get_num_threads() == before
