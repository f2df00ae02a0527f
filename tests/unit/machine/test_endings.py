"""Processes end within a time, whatever they do."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time

import pytest

from heedful.machine.child import end_all

SPAWN = multiprocessing.get_context("spawn")


def stand_still() -> None:
    """Be stopped, as by a debugger: SIGTERM waits until somebody lets the process go on."""
    os.kill(os.getpid(), signal.SIGSTOP)


def hear_nothing() -> None:
    """Go on whatever is asked."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGSTOP")
def test_those_that_hear_nothing_are_killed() -> None:
    processes = [SPAWN.Process(target=each, daemon=True) for each in (stand_still, hear_nothing)]
    for process in processes:
        process.start()
    end_all(processes, 0.5)
    assert all(process.exitcode in (-signal.SIGKILL, -signal.SIGTERM) for process in processes)
    end_all(processes, 0.5)
