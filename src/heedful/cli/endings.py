"""How a signal ends a command: in one line, with the documented code, and never in the middle of an import."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from heedful.errors import ExitCode
from heedful.training.signals import handled_by

ENDING = (signal.SIGINT, signal.SIGTERM)
"""The signals that ask a command to end."""
_AGAIN = 0.01
"""Seconds until a signal that came during an import is looked at again."""


class Terminated(BaseException):
    """The process was asked to end by SIGTERM; no library takes it for an error of its own."""


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """While entered, SIGINT raises `KeyboardInterrupt` and SIGTERM `Terminated`, once no import is under way.

    Python drops what is raised in the callbacks of an import, and the half-imported library would be imported again
    by whoever cleans up; so the signal waits for the import to end. Training has its own way to stop (`StopRequest`).
    A SIGINT that the process was started to ignore stays ignored. Outside the main thread nothing happens.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    with handled_by(_end, numbers):
        yield


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
