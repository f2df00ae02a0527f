from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.bench import run as run_file
from heedful.bench.machine import Ceiling
from heedful.cli.main import run
from heedful.errors import ExitCode

SMALL = ["bench", "--length", "4", "--length", "6", "--batch", "2", "--width", "8"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "measure_ceiling", lambda: Ceiling(100.0, 10.0))
    monkeypatch.setattr("heedful.bench.measure._SHORTEST", 0.0)


def test_tables_go_to_standard_output_and_files_to_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*SMALL, "--out", str(tmp_path / "new")]) == ExitCode.OK
    shown = capsys.readouterr()
    assert shown.out.startswith("# Benchmark\n")
    assert "equal to the float64 reference: DiSA chunked" in shown.err
    written = {path.name for path in (tmp_path / "new").iterdir()}
    assert {"bench.md", "bench.json", "bench.csv", "figure1.svg", "figure1.png"} == written


def test_json_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SMALL, "--json", "--quiet"]) == ExitCode.OK
    shown = capsys.readouterr()
    assert {"machine", "ceiling", "rows"} <= set(json.loads(shown.out))
    assert shown.err == ""


def test_a_wrong_width_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--width", "10"]) == ExitCode.USAGE
    assert "multiple of 4" in capsys.readouterr().err
