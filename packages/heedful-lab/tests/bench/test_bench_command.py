from __future__ import annotations

import json
from pathlib import Path

import pytest

from heedful.cli.main import run
from heedful.errors import ExitCode
from heedful_lab.bench import bench_run as run_file
from heedful_lab.bench.timing import Ceiling

SMALL = ["bench", "--length", "4", "--length", "6", "--batch", "2", "--width", "8"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "measure_ceiling", lambda: Ceiling(100.0, 10.0))
    monkeypatch.setattr("heedful_lab.bench.timing._SHORTEST", 0.0)


def test_tables_go_to_standard_output_and_files_to_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "figure1.svg"
    assert run([*SMALL, "--out", str(tmp_path / "new"), "--figure", str(figure)]) == ExitCode.OK
    assert figure.read_text().startswith("<?xml")
    shown = capsys.readouterr()
    assert shown.out.startswith("# Benchmark\n")
    assert "equal to the float64 reference: DiSA chunked" in shown.err
    written = {path.name for path in (tmp_path / "new").iterdir()}
    assert {"bench.md", "bench.json", "bench.csv"} == written
    # The same again from the file, without measuring.
    again = [str(tmp_path / "new" / "bench.json"), "--figure", str(tmp_path / "one.svg")]
    assert run(["bench", "--join", *again]) == ExitCode.OK
    assert capsys.readouterr().out == shown.out
    assert (tmp_path / "one.svg").read_bytes() == figure.read_bytes()


def test_json_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SMALL, "--json", "--quiet", "--without", "Bi-LSTM"]) == ExitCode.OK
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert {"machine", "ceiling", "rows", "targets"} <= set(report)
    assert "Bi-LSTM" not in {row["name"] for row in report["rows"]}
    assert shown.err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--length", "4", "--figure", "x.png"], "two lengths or more"),
        (["--figure", "x.gif"], ".png, .svg or .pdf"),
        (["--models", "--figure", "x.png"], "leave them out with --models"),
        (["--without", "Bi-LSTN"], "did you mean 'Bi-LSTM'"),
        (["--join", "nowhere.json"], "expected the bench.json of an earlier benchmark"),
    ],
)
def test_what_cannot_be_drawn_or_joined_is_said_before_any_work(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", *arguments]) == ExitCode.USAGE
    assert message in capsys.readouterr().err


def test_a_wrong_width_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--width", "10"]) == ExitCode.USAGE
    assert "multiple of 4" in capsys.readouterr().err
