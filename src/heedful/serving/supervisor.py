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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from types import FrameType
from typing import TYPE_CHECKING

from heedful.errors import ExitCode, HeedfulError
from heedful.machine import threads
from heedful.machine.child import Failed, threads_for_children
from heedful.serving.engine import temporary_folder
from heedful.serving.server import AT_ONCE
from heedful.serving.service import Service
from heedful.serving.shelf import Tasks
from heedful.serving.summed_counts import bury
from heedful.serving.worker_process import Worker, be_worker

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

_SPAWN = multiprocessing.get_context("spawn")
_ENDING = (signal.SIGINT, signal.SIGTERM)
_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds at least between two starts of a worker; twice as many after each start that failed."""
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
    started: float = -_LONGEST_PAUSE

    @property
    def due(self) -> float:
        """When the next worker may be started here."""
        return self.started + min(_PAUSE * 2**self.failures, _LONGEST_PAUSE)


class _Signals:
    """The signals that came, and a socket that can be waited for.

    Attributes:
        came: their numbers.
        woken: can be read from once one came.
    """

    def __init__(self) -> None:
        self.came = list[int]()
        self.woken, self._wakes = socket.socketpair()
        self.woken.setblocking(False)
        self._wakes.setblocking(False)

    def __enter__(self) -> _Signals:
        self._handlers = {number: signal.signal(number, self._note) for number in _ENDING}
        self._former = signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._former)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self.woken.close()
        self._wakes.close()

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.came.append(number)


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
            self._start(self._places[0])  # alone: what is wrong with a folder is said once
            wait(self._connections())
            self._hear(self._places[0])
            with _Signals() as signals:
                self._keep(signals, stand)
        finally:
            self._end(signal.SIGTERM)
            for process, _ in self._running():
                process.join()
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._clean:
            return ExitCode.OK
        return ExitCode.INTERRUPTED if signals.came[-1] == signal.SIGINT else ExitCode.TERMINATED

    def _keep(self, signals: _Signals, stand: Callable[[], None]) -> None:
        passed = 0
        while self._running() or not self._ending:
            if not self._ending:
                self._start_those_due()
            for connection in wait([*self._connections(), signals.woken], self._patience()):
                if connection is signals.woken:
                    signals.woken.recv(1_024)
            for place in self._places:
                if place.running and place.running[1].poll():
                    self._hear(place)
            if not self._serving and all(place.stands for place in self._places):
                stand()
                self._serving = True
                for _, connection in self._running():
                    _send(connection)
            for _ in signals.came[passed:]:
                passed += 1
                self._end(AT_ONCE if self._ending else signal.SIGTERM)
                self._ending = True
                self._listening.close()

    def _running(self) -> list[tuple[SpawnProcess, Connection]]:
        return [place.running for place in self._places if place.running]

    def _connections(self) -> list[Connection]:
        return [connection for _, connection in self._running()]

    def _patience(self) -> float | None:
        """Seconds until a worker may be started; None where none is missing."""
        due = [place.due for place in self._places if not place.running]
        return None if self._ending or not due else max(0.0, min(due) - time.monotonic())

    def _start_those_due(self) -> None:
        now = time.monotonic()
        for place in self._places:
            if not place.running and place.due <= now:
                self._start(place)

    def _start(self, place: _Place) -> None:
        place.worker.folder.mkdir(exist_ok=True)
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=be_worker, args=(place.worker, self._listening, theirs, self._tasks))
        with threads_for_children(self._threads), _no_interrupts():
            process.start()
        theirs.close()
        place.running, place.started = (process, ours), time.monotonic()

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
            self._clean = self._clean and process.exitcode in (
                0,
                -signal.SIGTERM,
            )  # the latter had not begun yet
        elif stood:
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


@contextlib.contextmanager
def _no_interrupts() -> Iterator[None]:
    """Hold SIGINT back. A process that is started meanwhile never gets it, and it is the parent that is to get it."""
    resource_tracker.ensure_running()  # its start would let signals through again
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)
