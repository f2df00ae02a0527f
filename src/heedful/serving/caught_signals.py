"""Signals as a process that has started others needs them: to be waited for with what those say, and not passed on."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Iterator
from multiprocessing import resource_tracker
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM)


class CaughtSignals:
    """While entered, SIGINT and SIGTERM are noted and do nothing else.

    Attributes:
        came: those that came, in order.
        woken: a socket that can be read from once one came, for functions that wait.
    """

    def __init__(self) -> None:
        self.came = list[int]()
        self.woken, self._wakes = socket.socketpair()
        self.woken.setblocking(False)
        self._wakes.setblocking(False)

    def __enter__(self) -> CaughtSignals:
        """Begin to note signals."""
        self._handlers = {number: signal.signal(number, self._note) for number in _ENDING}
        self._former = signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        """Go back to what signals did before."""
        signal.set_wakeup_fd(self._former)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self.woken.close()
        self._wakes.close()

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.came.append(number)


@contextlib.contextmanager
def signals_held_back() -> Iterator[None]:
    """Hold SIGINT and SIGTERM back, so that none comes in the middle of starting a process.

    A process that `multiprocessing` starts meanwhile holds them back too, and never gets a SIGINT that a terminal sends
    to it as well; it calls `let_terminate`.
    """
    resource_tracker.ensure_running()  # its start would let signals through again
    former = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def let_terminate() -> None:
    """Let SIGTERM through again."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
