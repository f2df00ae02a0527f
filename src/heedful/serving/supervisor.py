"""The parent of several workers: it starts them, replaces those that die, and ends with them.

A worker is a new process of Python and not a fork. It may have to be replaced at any time, when libraries of the parent
have threads and locks that a fork would copy in the middle of their work, and torch cannot compute after a fork. All
workers take connections from one socket, which the parent opened: a connection that waits there while one of them dies
is taken by another one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from heedful.errors import ExitCode, HeedfulError
from heedful.machine import threads
from heedful.machine.child import Failed, threads_for_children
from heedful.machine.signals import CaughtSignals, signals_held_back
from heedful.serving.counters import bury
from heedful.serving.engine import temporary_folder
from heedful.serving.server import AT_ONCE
from heedful.serving.service import Service, Worker, be_worker
from heedful.serving.shelf import Tasks

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

_SPAWN = multiprocessing.get_context("spawn")
_PAUSE, _DOUBLED = 1.0, 6
"""Seconds at least between two starts of a worker; twice as many after each start that failed, so many times."""
_TRIES = 3
"""Starts of a worker that fail, one after the other, before the server ends because no worker is left."""


@dataclass
class _Place:
    """The place of one worker.

    Attributes:
        worker: who is there.
        running: its process and the connection to it; None between two workers.
        stands: whether it has read its models.
        failures: starts that failed, one after the other.
        started: when the last one was started, on the monotonic clock.
    """

    worker: Worker
    running: tuple[SpawnProcess, Connection] | None = None
    stands: bool = False
    failures: int = 0
    started: float = 0.0

    @property
    def due(self) -> float:
        """When the next worker may be started here."""
        return self.started + _PAUSE * 2 ** min(self.failures, _DOUBLED)


class Supervisor:
    """The parent of the workers.

    Args:
        service: what they serve.
        listening: the socket; it is closed when a signal comes.
        count: number of workers.
        say: a function of a module that writes a line to the log, here and in the workers.
    """

    def __init__(
        self, service: Service, listening: socket.socket, count: int, say: Callable[[str], None]
    ) -> None:
        self._listening, self._say, self._folder = listening, say, temporary_folder()
        self._threads = threads.share(count)
        self._places = [
            _Place(Worker(number, service, self._folder, self._threads, say))
            for number in range(1, count + 1)
        ]
        self._tasks: Tasks = {}
        self._serving, self._ending, self._clean = False, False, True

    def run(self, stand: Callable[[], None]) -> ExitCode:
        """Start the workers and keep their number until a signal comes, which they get too.

        Args:
            stand: called when all have read their models, before the first one answers.

        Returns:
            0 if every request in flight was answered; else the code of the signal.

        Raises:
            HeedfulError: if a worker cannot start; of the kind and with the message that it had there.
        """
        try:
            self._begin()
            stand()
            with CaughtSignals() as signals:
                self._serve(signals)
        finally:
            self._end(signal.SIGTERM)
            for process, _ in self._running():
                process.join()
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._clean:
            return ExitCode.OK
        return ExitCode.INTERRUPTED if signals.came[-1] == signal.SIGINT else ExitCode.TERMINATED

    def _begin(self) -> None:
        """Wait until all workers have read their models: the first one alone, so that what is wrong is found once."""
        first, *others = self._places
        self._start(first)
        self._wait_and_hear()
        for place in others:
            self._start(place)
        while not all(place.stands for place in others):
            self._wait_and_hear()

    def _serve(self, signals: CaughtSignals) -> None:
        """Let the workers answer, and keep their number until a signal has come and all have ended."""
        self._serving = True
        for connection in self._connections():
            _send(connection)
        passed = 0
        while self._running() or not self._ending:
            for place in self._places:
                if not self._ending and not place.running and place.due <= time.monotonic():
                    self._start(place)
            self._wait_and_hear(signals.woken)
            for _ in signals.came[passed:]:
                passed += 1
                self._end(AT_ONCE if self._ending else signal.SIGTERM)
                self._ending = True
                self._listening.close()

    def _running(self) -> list[tuple[SpawnProcess, Connection]]:
        return [place.running for place in self._places if place.running]

    def _connections(self) -> list[Connection]:
        return [connection for _, connection in self._running()]

    def _wait_and_hear(self, woken: socket.socket | None = None) -> None:
        """Wait until a worker reports or ends, a new one may be started, or a signal comes, and hear the workers."""
        due = [] if self._ending else [place.due for place in self._places if not place.running]
        patience = max(0.0, min(due) - time.monotonic()) if due and self._serving else None
        for each in wait([*self._connections(), *([woken] if woken else [])], patience):
            if isinstance(each, socket.socket):
                each.recv(1_024)
        for place in self._places:
            if place.running and place.running[1].poll():
                self._hear(place)

    def _start(self, place: _Place) -> None:
        place.worker.folder.mkdir(exist_ok=True)
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=be_worker, args=(place.worker, self._listening, theirs, self._tasks))
        with threads_for_children(self._threads), signals_held_back():
            process.start()
            place.running, place.started = (process, ours), time.monotonic()
        theirs.close()

    def _end(self, number: int) -> None:
        for process, _ in self._running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid or 0, number)

    def _hear(self, place: _Place) -> None:
        """Take what a worker reports: its tasks, why it cannot start, or nothing, which is its end."""
        assert place.running
        process, connection = place.running
        try:
            report = connection.recv()
        except (EOFError, OSError):
            report = None
        if isinstance(report, dict):
            self._tasks, place.stands, place.failures = report, True, 0
            if self._serving:
                _send(connection)
            return
        process.join()
        connection.close()
        stood, place.running, place.stands = place.stands, None, False
        shutil.rmtree(place.worker.folder, ignore_errors=True)
        bury(self._folder, place.worker.number)
        if self._ending:
            ended_well = process.exitcode in (0, -signal.SIGTERM)  # the latter had not begun to answer
            self._clean = self._clean and ended_well
        elif stood and self._serving:
            self._say(
                f"worker {place.worker.number} {_told(process.exitcode)}, and another one takes its place"
            )
        else:
            self._failed(place, report, process.exitcode)

    def _failed(self, place: _Place, report: Failed | None, code: int | None) -> None:
        """Try again later, as long as others answer; a server that cannot answer ends."""
        place.failures += 1
        if report:
            error: Exception = report.kind(report.message)
        elif code == ExitCode.OUT_OF_MEMORY:
            error = MemoryError()
        else:
            said = f"a worker {_told(code)} before it could answer. If the system killed it for its memory, use fewer "
            error = HeedfulError(f"{said}--workers")
        others = any(each.stands for each in self._places)
        if not self._serving or (place.failures >= _TRIES and not others):
            raise error
        seconds = place.due - place.started
        why = str(error) or "out of memory"
        self._say(f"worker {place.worker.number} cannot start, next try in {seconds:.0f} seconds: {why}")


def _send(connection: Connection) -> None:
    """Let a worker answer; if it has died meanwhile, the next look finds that."""
    with contextlib.suppress(OSError):
        connection.send(None)


def _told(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit status {code}"
