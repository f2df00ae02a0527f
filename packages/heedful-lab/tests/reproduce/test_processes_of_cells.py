"""Cells in processes of their own: asked to stop, left alone by a kill, and how failures are told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tiny
from forked_commands import started
from heedful.errors import DataError, DivergedError, HeedfulError, Interrupted, UsageError
from heedful.machine import crew
from heedful_lab.reproduce import runner
from heedful_lab.reproduce.plan import Effort, Experiment, System
from heedful_lab.reproduce.runner import Budget, Cell, Failure, failed, run_cells
from waiting import Ending, until

LONG = ("train.max_steps=1000000", "train.epochs=0", "train.device=cpu", "train.patience=0")


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes be forked from one that has imported all; the program that is killed starts its own anew."""
    monkeypatch.setattr(crew, "_SPAWN", started())


def cell(data: Path, *settings: str) -> Cell:
    """Return a cell on the tiny text task."""
    recipe = str(data / "text.toml")
    experiment = Experiment("tiny", "tiny", recipe, settings, {"standard": Effort((), 1.0)}, (1,), 0, ())
    return Cell(experiment, System("ours", (), {}), Budget())


def wait_for(found: Path, program: subprocess.Popen[bytes] | None = None) -> None:
    """Wait for a file with its first line: the run takes steps; a program that has ended before never writes it."""

    def ended() -> bool:
        return program is not None and program.poll() is not None

    until(lambda: ended() or (found.exists() and found.stat().st_size))
    assert not ended(), "the program ended before it took a step"


def test_a_signal_stops_the_processes_too(tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")
    long = cell(data, *LONG)
    work = tmp_path / "runs" / long.folder / "unfinished" / "train.seed=1"
    said: list[str] = []

    def ask() -> None:
        wait_for(work / "metrics.jsonl")
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=ask).start()
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Interrupted, match="the same command goes on"):
        run_cells([long, long], data, tmp_path / "runs", jobs=1, print_line=said.append)
    assert said == ["ours on tiny ..."]
    assert (work / "checkpoints" / "latest").is_dir()  # it has saved where it stands
    assert signal.getsignal(signal.SIGTERM) is before


PROGRAM = """
import sys
from pathlib import Path

sys.path[:0] = sys.argv[3:]
from test_processes_of_cells import LONG, cell
from heedful_lab.reproduce.runner import run_cells

if __name__ == "__main__":
    data, runs = map(Path, sys.argv[1:3])
    run_cells([cell(data, *LONG)], data, runs, jobs=1, print_line=lambda _: None)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the processes in /proc")
def test_no_process_outlives_one_that_was_killed(tmp_path: Path) -> None:
    data, runs = tiny.write_tasks(tmp_path / "data"), tmp_path / "runs"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    tests = Path(tiny.__file__).parent
    words = [sys.executable, str(program), str(data), str(runs), str(tests), str(Path(__file__).parent)]
    work = runs / cell(data).folder / "unfinished" / "train.seed=1"
    parent = subprocess.Popen(words)
    try:
        wait_for(work / "metrics.jsonl", parent)
        threads = Path(f"/proc/{parent.pid}/task").iterdir()  # each is the parent of what it started
        endings = [
            Ending(int(number)) for one in threads for number in (one / "children").read_text().split()
        ]
        assert endings
    finally:
        parent.kill()
        parent.wait()
    for ending in endings:
        ending.wait()
    assert (work / "checkpoints" / "latest").is_dir(), "it was asked to stop, and saves first"


def test_a_failure_is_told_by_its_class_and_message(tmp_path: Path) -> None:
    data = tiny.write_tasks(tmp_path / "data")
    (data / "text.csv").write_text("text,label\n")
    (failure,) = run_cells([cell(data)], data, tmp_path / "runs", jobs=1, print_line=lambda _: None)
    assert failure.kind is DataError
    assert "text.csv" in failure.why


def end_badly(_data: Path | None, _runs: Path) -> None:
    os._exit(3)


def test_a_process_that_ends_without_a_word_is_told_by_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_runs_cells", end_badly)
    (failure,) = run_cells([cell(tmp_path)], tmp_path, tmp_path, jobs=1, print_line=lambda _: None)
    assert failure.kind is HeedfulError
    assert failure.why.startswith("ours on tiny: its process ended with exit status 3. ")


@pytest.mark.parametrize(
    ("kinds", "kind"),
    [
        ((DataError, DataError), DataError),
        ((DivergedError,), DivergedError),
        ((DataError, DivergedError), UsageError),
        ((HeedfulError,), HeedfulError),
    ],
)
def test_failures_of_one_kind_end_as_that_kind(
    kinds: tuple[type[HeedfulError], ...], kind: type[HeedfulError]
) -> None:
    failures = [Failure(f"cell {number}", "why", one) for number, one in enumerate(kinds)]
    error = failed(failures, "some cells failed:")
    assert type(error) is kind
    told = [f"  cell {number}: why" for number in range(len(kinds))]
    assert str(error).splitlines() == ["some cells failed:", *told]
