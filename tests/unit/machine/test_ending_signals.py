"""Signals that ask a command to end wait for an import, and raise everywhere else."""

from __future__ import annotations

import importlib
import signal
import sys
import time
from pathlib import Path

import pytest

from heedful.machine.signals import ENDING, Terminated, signals_raise

RAISED = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: Terminated}


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_raises(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(RAISED[number]), signals_raise():
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_during_an_import_waits_for_its_end(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where Python would drop what is raised, as in a destructor that an import calls."""
    name = f"half_imported_{number.name.lower()}"
    (tmp_path / f"{name}.py").write_text(
        "import signal, time\n"
        "class Last:\n    def __del__(self):\n"
        f"        signal.raise_signal({int(number)})\n"
        "Last()\ntime.sleep(0.05)\nwhole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RAISED[number]), signals_raise():
        _import_and_wait(name)
    assert sys.modules.pop(name).whole


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals_raise():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def _import_and_wait(name: str) -> None:
    importlib.import_module(name)
    time.sleep(5)
