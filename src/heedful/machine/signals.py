"""Signals that ask a process to end: in training, in a command, and in a process that has started others.

Training finishes its current step first (`StopRequest`). A command ends in one line, with the documented code, never
in the middle of an import (`signals_raise`). A process that has started others waits for what those say
(`CaughtSignals`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import NoReturn

from heedful.errors import ExitCode, Interrupted

Handler = Callable[[int, FrameType | None], object] | int | None
"""What handles a signal, as `signal.signal` takes and returns it."""
ENDING = (signal.SIGINT, signal.SIGTERM)
"""The signals that ask a process to end."""
_AGAIN = 0.01
"""Seconds until a signal that came during an import is looked at again."""


class StopRequest:
    """While entered, SIGINT and SIGTERM set ``is_set``; a second SIGINT acts as it would have without this.

    Outside the main thread, where Python delivers no signals, it does nothing.
    """

    def __init__(self) -> None:
        self.is_set = False
        self._previous: dict[int, Handler] = {}
        self._noted = set[int]()  # signals that are given back at the next one, or were

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                self._previous[number] = signal.getsignal(number)
                signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._noted.update(self._previous)  # one that comes from here on is nothing to note any more
        for number in self._previous:
            self._give_back(number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Note a signal; the next one may come at any place of this, even before the first is given back."""
        if number not in self._noted:
            self.is_set = True
            if number == signal.SIGINT:
                self._noted.add(number)
                self._give_back(number)
            return
        self._give_back(number)
        signal.raise_signal(number)

    def _give_back(self, number: int) -> None:
        handler = self._previous[number]
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextlib.contextmanager
def handled_by(handler: Callable[[int, FrameType | None], object], numbers: Iterable[int]) -> Iterator[None]:
    """While entered, signals are handled by ``handler``; afterwards by what handled them before.

    Args:
        handler: called with the number and the frame.
        numbers: of the signals.

    Yields:
        Once.
    """
    former = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, before in former.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)


@contextlib.contextmanager
def stop_raises(afterwards: str) -> Iterator[None]:
    """While entered, the first SIGINT or SIGTERM raises `Interrupted`, for code that only waits for other processes.

    A further signal is left to the processes that were asked to stop. Outside the main thread it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        for one in ENDING:
            signal.signal(one, signal.SIG_IGN)
        raise Interrupted(f"asked to stop ({afterwards})")

    with handled_by(stop, ENDING):
        yield


class Terminated(BaseException):
    """The process was asked to end by SIGTERM; no library takes it for an error of its own."""


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """While entered, SIGINT raises `KeyboardInterrupt` and SIGTERM `Terminated`, once no import is under way.

    Python drops what is raised in the callbacks of an import, and the half-imported library would be imported again
    by whoever cleans up; so the signal waits for the import to end. Training has its own way to stop (`StopRequest`).
    A SIGHUP, as of a terminal that is closed, is a SIGTERM (`hangup_terminates`). A signal that the process was started
    to ignore stays ignored. Outside the main thread nothing happens.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    with handled_by(_end, numbers), handled_by(_terminate, _hangups()):
        yield


def hangup_terminates() -> None:
    """Let SIGHUP be a SIGTERM from now on, unless the process ignores or handles it, as one under nohup does."""
    for number in _hangups():
        signal.signal(number, _terminate)


def _hangups() -> list[signal.Signals]:
    """Return SIGHUP where there is such a signal and it would end the process at once."""
    hangup = getattr(signal, "SIGHUP", None)
    return [hangup] if hangup is not None and signal.getsignal(hangup) is signal.SIG_DFL else []


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGTERM)


def exit_at_once(code: int) -> None:
    """Let a signal end the process with ``code``: the command has ended, the interpreter is still to be taken down.

    Args:
        code: the exit code of the command.
    """
    for number in ENDING:
        signal.signal(number, lambda *_: os._exit(code))


def ignore_signals() -> None:
    """Ignore signals: Python gives up its handlers before the libraries that it loaded are unloaded."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: FrameType | None) -> None:
    if _is_importing(frame) and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
        signal.setitimer(signal.ITIMER_REAL, _AGAIN)
        return
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.signal(number, lambda *_: os._exit(ExitCode.TERMINATED))  # a second one does not wait
    raise Terminated


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


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
        self._handlers = {number: signal.signal(number, self._note) for number in ENDING}
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
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # its start would let signals through again
    former = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def let_terminate() -> None:
    """Let SIGTERM through again."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
