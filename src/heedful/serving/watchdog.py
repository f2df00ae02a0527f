"""Looks whether the threads of a process still move: those that answer, and the one that speaks with the clients."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from heedful.errors import ExitCode
from heedful.machine.heartbeat import BEAT, Stillness

if TYPE_CHECKING:
    from heedful.serving.app import App
    from heedful.serving.model_store import ModelStore
    from heedful.serving.request_limits import Bounds

LEAST = 10.0
"""Seconds without a move that are no trouble, however short the time for a request is: a library that is loaded, or
other work on the machine, can hold everything up for so long."""


def patience(bounds: Bounds) -> float:
    """Return for how many seconds a thread, or a process, may stand still before it counts as hung."""
    return max(bounds.seconds, LEAST)


class Watchdog:
    """Looks once a second, in a thread of its own.

    A thread that answers and has ended or hangs makes the server unready. A worker ends then, so that the parent starts
    another one; and so does any process whose loop of events hangs, since it answers nobody.

    Args:
        app: the application that hears of it.
        shelf: the models.
        print_line: writes a line to the log.
        worker: whether a parent starts another process in the place of this one.
    """

    def __init__(
        self, app: App, shelf: ModelStore, print_line: Callable[[str], None], *, worker: bool
    ) -> None:
        self._app, self._shelf, self._say, self._worker = app, shelf, print_line, worker
        self._patience = patience(app.bounds)
        self._loop, self._still = Stillness(), {name: Stillness() for name in shelf.names}
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch", daemon=True)

    def __enter__(self) -> Watchdog:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Look no more."""
        self._closed.set()

    def look(self) -> None:
        """Report to the application what is wrong, and end a process that is of no use any more."""
        hangs = self._loop.look(self._app.ticks) > self._patience
        trouble = "the loop that speaks with clients hangs" if hangs else self._trouble()
        if trouble and trouble != self._app.trouble:
            self._say(f"{trouble}{', and this process ends' if self._worker or hangs else ''}")
        self._app.trouble = trouble
        if hangs or (trouble and self._worker):
            os._exit(ExitCode.INTERNAL)

    def _trouble(self) -> str:
        for name, served in self._shelf.models.items():
            if not served.batcher.is_alive:
                return f"the thread that answers for the model {name!r} has ended"
            if self._still[name].look(served.batcher.turn) > self._patience:
                return f"the thread that answers for the model {name!r} hangs"
        return ""

    def _watch(self) -> None:
        while not self._closed.wait(BEAT):
            self.look()
