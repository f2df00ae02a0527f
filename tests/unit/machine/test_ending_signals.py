"""Signals that ask a command to end wait for an import, and raise everywhere else."""

from __future__ import annotations

import importlib
import signal
import sys
import time
from pathlib import Path

import pytest

from heedful.machine.signals import ENDING, StopRequest, Terminated, hangup_terminates, signals_raise
from waiting import PATIENCE

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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_that_was_ignored_stays_ignored(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with signals_raise():
            hangup_terminates()
            signal.raise_signal(number)
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_a_terminal_that_is_closed_ends_a_command_as_sigterm_does() -> None:
    before = signal.getsignal(signal.SIGHUP)
    with pytest.raises(Terminated), signals_raise():
        signal.raise_signal(signal.SIGHUP)
    with signals_raise(), StopRequest() as request:
        signal.raise_signal(signal.SIGHUP)
        assert request.is_set
    assert signal.getsignal(signal.SIGHUP) is before is signal.SIG_DFL


def test_the_first_signal_is_noted_and_the_second_acts() -> None:
    with pytest.raises(KeyboardInterrupt), signals_raise(), StopRequest() as request:  # noqa: PT012
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert request.is_set
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("noted", signal.SIGINT),
        ("given back", signal.SIGINT),
        ("left", signal.SIGINT),
        ("left", signal.SIGTERM),
    ],
)
def test_a_second_signal_at_any_place_of_the_first_acts(
    place: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes when the first was noted, before or after the former handler is back; or while the work is left."""
    give_back = StopRequest._give_back

    def interrupted(self: StopRequest, back: int) -> None:
        monkeypatch.undo()
        if place == "given back":
            give_back(self, back)
        signal.raise_signal(number)
        give_back(self, back)

    before = signal.getsignal(number)
    with pytest.raises(RAISED[number]), signals_raise(), StopRequest():  # noqa: PT012
        monkeypatch.setattr(StopRequest, "_give_back", interrupted)
        if place != "left":
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(number) is before


def _import_and_wait(name: str) -> None:
    importlib.import_module(name)
    time.sleep(PATIENCE)
