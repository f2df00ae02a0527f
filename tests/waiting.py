"""Wait for what is to happen: nothing here says how long that takes, only after how long a test gives up."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 600.0
"""Seconds after which a test gives up; a machine with much other work needs a hundred times its usual time."""
Found = TypeVar("Found")


def until(happened: Callable[[], Found], pause: float = 0.02) -> Found:
    """Look again and again until something has happened, and return what was found."""
    end = time.monotonic() + PATIENCE
    while not (found := happened()):
        assert time.monotonic() < end, f"did not happen in {PATIENCE:.0f} seconds"
        time.sleep(pause)
    return found


class Ending:
    """The end of a process that need not be a child of this one; to be made while it runs (Linux)."""

    def __init__(self, pid: int) -> None:
        self._file = os.pidfd_open(pid)

    def wait(self) -> None:
        """Wait until it has ended."""
        look = select.poll()
        look.register(self._file, select.POLLIN)
        try:
            assert look.poll(PATIENCE * 1_000), f"it runs after {PATIENCE:.0f} seconds"
        finally:
            os.close(self._file)
