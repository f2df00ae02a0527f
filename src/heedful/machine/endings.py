"""Processes that are ended within a time, whatever they do."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from multiprocessing.process import BaseProcess

PATIENCE = 10.0
"""Seconds that a process has to end by itself."""


def end_all(processes: Iterable[BaseProcess], seconds: float | None = PATIENCE) -> None:
    """Ask processes to end, wait for them, and kill those that do not: one that is stopped, or hangs, hears no asking.

    Args:
        processes: that this process has started.
        seconds: that they have in all; None for as long as it takes.
    """
    running = list(processes)
    for process in running:
        send(process, signal.SIGTERM)
    wait_for_all(running, seconds)


def wait_for_all(processes: Iterable[BaseProcess], seconds: float | None = PATIENCE) -> None:
    """Wait for processes that are about to end, and kill those that do not.

    Args:
        processes: that this process has started.
        seconds: that they have in all; None for as long as it takes.
    """
    until = None if seconds is None else time.monotonic() + seconds
    for process in processes:
        process.join(None if until is None else max(0.0, until - time.monotonic()))
        if process.exitcode is None:
            send(process, signal.SIGKILL)
            process.join()


def send(process: BaseProcess, number: int) -> None:
    """Send a signal to a process; nothing happens if it has ended.

    Args:
        process: that this process has started.
        number: of the signal.
    """
    if process.pid is not None and process.exitcode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
