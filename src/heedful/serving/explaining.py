"""The thread that explains, one request after the other; work that nobody waits for any more is stopped."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from heedful.machine.canceling import Cancel, canceled_by

Result = TypeVar("Result")


class Explaining:
    """A queue and its thread, which is begun for the first call and never holds up the end of the process.

    Attributes:
        is_busy: whether something is computed.
    """

    def __init__(self) -> None:
        self._calls = queue.SimpleQueue[tuple["Future[Any]", Cancel, Callable[[], object]]]()
        self._thread: threading.Thread | None = None
        self.is_busy = False

    def ask(self, work: Callable[[], Result]) -> tuple[Future[Result], Cancel]:
        """Queue a call.

        Args:
            work: what is to be computed.

        Returns:
            What it will give, and what stops it between two of its steps.
        """
        future, cancel = Future[Result](), Cancel()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="explanations", daemon=True)
            self._thread.start()
        self._calls.put((future, cancel, work))
        return future, cancel

    def _work(self) -> None:
        while True:
            future, cancel, work = self._calls.get()
            if not future.set_running_or_notify_cancel():
                continue
            self.is_busy = True
            try:
                with canceled_by(cancel):
                    future.set_result(work())
            except BaseException as error:  # a thread that ends would leave the others without an answer
                future.set_exception(error)
            self.is_busy = False
            del future, work  # what was computed is not kept until the next call
