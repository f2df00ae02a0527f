"""SIGTERM and SIGINT at any moment of the real command line: one line, a documented code, and the run goes on."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

import small_runs
from attempts import Process
from heedful.errors import ExitCode
from small_runs import Command
from tally import Outcome, Tally

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Signal to the code that a shell gives to a process ended by it; 130 is said of both where the state is saved."""


def caught(pid: int, number: int) -> bool:
    """Whether the process has a handler for the signal: before, Python itself is being loaded."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to see when Python is loaded")
def test_a_signal_at_any_moment(number: signal.Signals, tmp_path: Path, tally: Tally) -> None:
    """A handler is waited for, then any moment up to the end is drawn."""
    command = small_runs.train(small_runs.write_data(tmp_path / "data"), real=True)
    started = time.monotonic()
    assert command.run(tmp_path / "whole").code == 0
    seconds, expected = time.monotonic() - started, command.result(tmp_path / "whole")
    for attempt in range(tally.count(20)):
        folder = tmp_path / f"run-{attempt}"
        process = command.start(folder)
        assert isinstance(process, Process)
        while process.alive() and not caught(process.pid, number):
            time.sleep(0.001)
        moment = tally.draw.uniform(0.0, seconds)
        deadline = time.monotonic() + moment
        while process.alive() and time.monotonic() < deadline:
            time.sleep(0.002)
        process.send(number)
        trouble = _judge(process, command, folder, expected)
        tally.add(Outcome("failed" if trouble else "right", f"{number.name} after {moment:.3f} s: {trouble}"))


def _judge(process: Process, command: Command, folder: Path, expected: object) -> str:
    end = process.wait()
    if end.code == -signal.SIGINT and "KeyboardInterrupt" in end.err and "cli" not in end.err:
        return ""  # Python handles SIGINT itself, and loads what it needs before the command line can
    if end.code not in (0, ExitCode.INTERRUPTED, SIGNALS[signal.SIGTERM]):
        return f"exit {end.code}: {end.err[-500:]!r}"
    own = [line for line in end.err.splitlines() if line.startswith("heedful: ")]
    if len(own) != (end.code != 0) or "Traceback" in end.err:
        return f"exit {end.code}, not told in one line: {end.err[-500:]!r}"
    if end.code and (end := command.run(folder)).code:
        return f"does not go on: {end.err[-500:]!r}"
    return "" if command.result(folder) == expected else "another result"
