"""Handle requests to stop: the current step is finished first."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any, NoReturn

from heedful.errors import Interrupted


class StopRequest:
    """While entered, SIGINT and SIGTERM set ``asked``; a second SIGINT acts as it would have without this.

    Outside the main thread, where Python delivers no signals, it does nothing.
    """

    def __init__(self) -> None:
        self.asked = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in tuple(self._previous):
            self._restore(number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if number == signal.SIGINT:
            self._restore(number)

    def _restore(self, number: int) -> None:
        handler = self._previous.pop(number)
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextlib.contextmanager
def handled_by(handler: Callable[[int, FrameType | None], Any], numbers: Iterable[int]) -> Iterator[None]:
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
    numbers = (signal.SIGINT, signal.SIGTERM)

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        for one in numbers:
            signal.signal(one, signal.SIG_IGN)
        raise Interrupted(f"asked to stop ({afterwards})")

    with handled_by(stop, numbers):
        yield
