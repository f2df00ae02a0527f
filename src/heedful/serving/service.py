"""One process that answers: what it serves as a record that another process can be given, and the way to answers.

A worker is such a process that answers on a socket which it shares with other workers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful.errors import ExitCode
from heedful.machine import threads
from heedful.machine.child import Failed, end_with_parent
from heedful.machine.heartbeat import beat
from heedful.machine.signals import hangup_terminates, let_terminate
from heedful.opening import Truncate
from heedful.serving.app import Access, App
from heedful.serving.counters import Counters, SummedCounts
from heedful.serving.model_store import ModelStore, Tasks, opener
from heedful.serving.request_limits import Bounds
from heedful.serving.server import run
from heedful.serving.watchdog import Watchdog

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_STEP = 1.0
"""Seconds that an explanation has at the end for the step at which it stops."""
PrintLine = Callable[[str], None]
"""Writes a line to the log."""


@dataclass(frozen=True)
class Service:
    """What is served.

    Attributes:
        folders: name of each model to its folder.
        bounds: the limits.
        access: who may ask.
        max_tokens: longest text, in tokens; None for what each model was saved with.
        truncate: what a longer text does; None for what was saved.
    """

    folders: Mapping[str, Path]
    bounds: Bounds
    access: Access
    max_tokens: int | None = None
    truncate: Truncate | None = None


class Answering:
    """One process of a service, its models read and checked.

    Args:
        service: what is served.
        print_line: writes a line to the log.
        workers: the counts of several processes; None where this is the only one.

    Attributes:
        shelf: the models.

    Raises:
        HeedfulError: if a folder fails its checks; see `heedful.serving.served_model.open_served`.
    """

    def __init__(self, service: Service, print_line: PrintLine, workers: SummedCounts | None = None) -> None:
        counters, self._say = Counters(), print_line
        if workers:
            workers.go_on(counters)
        read = opener(service.max_tokens, service.truncate, service.bounds.word_memory)
        self.shelf = ModelStore(service.folders, service.bounds, counters, read, print_line)
        self._app = App(self.shelf, service.bounds, service.access, counters, print_line, workers)

    def until_ended(
        self,
        listening: socket.socket,
        *,
        worker: bool = False,
        early: Sequence[int] = (),
        stand: Callable[[], None] = lambda: None,
    ) -> ExitCode:
        """Answer until a signal comes; see `heedful.serving.server.run`.

        Args:
            listening: the socket; it is closed at the end.
            worker: whether this is one of several processes.
            early: signals that have come before.
            stand: called once clients may ask.

        Returns:
            The exit code.
        """
        self.shelf.watch()
        with Watchdog(self._app, self.shelf, self._say, worker=worker):
            code = run(self._app, listening, self._say, worker=worker, early=early, stand=stand)
        if code is ExitCode.OK:
            self.shelf.close()
        self._app.leave_counts()
        self._end_explaining(code)
        return code

    def sign(self) -> bytes:
        """Return the sign of life of a worker: 1 once it has answered a text, which proves that it can."""
        return b"1" if self._app.answered else b"0"

    def _end_explaining(self, code: ExitCode) -> None:
        """Leave an explanation that nobody waits for: it stops at its next step, or the process ends without it."""
        until = time.monotonic() + _STEP
        while self._app.is_explaining and time.monotonic() < until:
            time.sleep(0.01)
        if self._app.is_explaining:
            self.shelf.remove_copies()
            sys.stderr.flush()
            os._exit(code)


@dataclass(frozen=True)
class Worker:
    """The settings of a worker process.

    Attributes:
        number: its number, from 1; the worker that takes its place has the same.
        service: what is served.
        place: private folder of the server, where each worker leaves its counts.
        threads: for computation; None lets the process choose.
        print_line: writes a line to the log; a function of a module.
    """

    number: int
    service: Service
    place: Path
    threads: int | None
    print_line: Callable[[str], None]

    @property
    def folder(self) -> Path:
        """Where it has its copies of the models, so that they can be removed when it was killed."""
        return self.place / f"worker-{self.number}"


def be_worker(
    worker: Worker, listening: socket.socket, parent: Connection, beats: Connection, tasks: Tasks
) -> None:
    """Read the models, report to the parent, wait for its word, and answer until asked to end.

    The parent gets the tasks of the models, or `Failed`.

    Args:
        worker: which one this is.
        listening: the socket.
        parent: connection to the process that started this one.
        beats: takes signs of life to that process.
        tasks: those that other workers serve already; a folder that holds another one by now is refused.
    """
    let_terminate()
    hangup_terminates()
    threads.begin(worker.threads)
    end_with_parent()
    tempfile.tempdir = str(worker.folder)
    early = list[int]()
    sign: Callable[[], bytes] = lambda: b"0"  # noqa: E731 (another one, once it answers)
    beat(beats, lambda: sign())

    def print_line(line: str) -> None:
        worker.print_line(f"worker {worker.number}: {line}")

    try:
        answering = Answering(worker.service, print_line, SummedCounts(worker.place, worker.number))
        answering.shelf.refuse_other_tasks(tasks)
    except MemoryError:
        sys.exit(ExitCode.OUT_OF_MEMORY)
    except Exception as error:
        with contextlib.suppress(OSError):  # the parent was killed
            parent.send(Failed.of(error, f"worker {worker.number}"))
        sys.exit(1)
    try:
        signal.signal(
            signal.SIGTERM, lambda number, _: early.append(number)
        )  # it lets requests be answered now
        parent.send(dict(answering.shelf.tasks))
        parent.recv()
    except (EOFError, OSError):
        sys.exit(ExitCode.TERMINATED)
    sign = answering.sign
    sys.exit(answering.until_ended(listening, worker=True, early=early))
