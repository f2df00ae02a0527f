"""The parent of several workers: it starts them, replaces those that die or hang, and ends with them.

A worker is a new process of Python and not a fork. It may have to be replaced at any time, when libraries of the parent
have threads and locks that a fork would copy in the middle of their work, and torch cannot compute after a fork. All
workers take connections from one socket, which the parent opened: a connection that waits there while one of them dies
is taken by another one.

No error of the system ends the parent while a worker answers, and it waits for no worker without a limit.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from heedful.errors import ExitCode, HeedfulError
from heedful.machine import threads
from heedful.machine.child import Failed, end_all, is_passing, send, wait_for_all
from heedful.machine.heartbeat import BEAT
from heedful.machine.signals import CaughtSignals
from heedful.serving.counters import keep_counts_of_ended
from heedful.serving.model_store import Tasks
from heedful.serving.private_folder import temporary_folder
from heedful.serving.server import AT_ONCE
from heedful.serving.service import Service, Worker
from heedful.serving.watchdog import patience
from heedful.serving.worker_slot import Running, WorkerSlot

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_TRIES, _PASSING_TRIES = 3, 8
"""Workers that fail, one after the other, before the server ends because no other worker answers: of those that another
try would hardly help, and of all."""
_GRACE = 5.0
"""Seconds that the workers have to end beside those that their requests have."""
_AT_ONCE = 3.0
"""Seconds that they have after a second signal."""
_REQUESTED = (0, -signal.SIGTERM, ExitCode.TERMINATED)
"""How a worker ends that was asked to; the second, before it has begun to answer."""


class Supervisor:
    """The parent of the workers.

    Args:
        service: what they serve.
        listening: the socket; it is closed when a signal comes.
        count: number of workers.
        print_line: a function of a module that writes a line to the log, here and in the workers.
    """

    def __init__(
        self, service: Service, listening: socket.socket, count: int, print_line: Callable[[str], None]
    ) -> None:
        self._listening, self._say, self._folder = listening, print_line, temporary_folder()
        share = threads.share(count)
        self._places = [
            WorkerSlot(Worker(number, service, self._folder, share, print_line))
            for number in range(1, count + 1)
        ]
        self._seconds, self._patience = service.bounds.seconds, patience(service.bounds)
        self._tasks: Tasks = {}
        self._serving, self._clean = False, True
        self._heard_signals = 0
        self._until: float | None = None  # when those that have not ended are killed; None while they serve

    def run(self, stand: Callable[[], None]) -> ExitCode:
        """Start the workers and keep their number until a signal comes, which they get too.

        Args:
            stand: called when all have read their models and a signal would let all requests be answered.

        Returns:
            0 if every request in flight was answered; else the code of the signal.

        Raises:
            HeedfulError: if a worker cannot start, or workers fail again and again and no other one answers; of the
                kind and with the message that it had there.
        """
        try:
            self._begin()
            with CaughtSignals() as signals:
                self._serve(signals, stand)
        finally:
            for running in self._running():
                running.close()  # one that waits for the word of this process ends
            end_all(running.process for running in self._running())
            shutil.rmtree(self._folder, ignore_errors=True)
        if self._clean:
            return ExitCode.OK
        return ExitCode.INTERRUPTED if signals.came[-1] == signal.SIGINT else ExitCode.TERMINATED

    def _begin(self) -> None:
        """Wait until all workers have read their models: the first one alone, so that what is wrong is found once."""
        first, *others = self._places
        self._start(first)
        while not self._stands(first):
            self._wait_and_hear()
        for place in others:
            self._start(place)
        while not all(map(self._stands, others)):
            self._wait_and_hear()

    def _serve(self, signals: CaughtSignals, stand: Callable[[], None]) -> None:
        """Let the workers answer, say so, and keep their number until a signal has come and all have ended."""
        self._serving = True
        for running in self._running():
            _let_answer(running.reports)
        stand()
        while self._running() or self._until is None:
            for place in self._places:
                if self._until is None and not place.running and place.due <= time.monotonic():
                    self._start(place)
            self._wait_and_hear(signals)
            if self._until is not None and time.monotonic() > self._until:
                self._clean = self._clean and not self._running()
                for running in self._running():
                    send(running.process, signal.SIGKILL)

    def _running(self) -> list[Running]:
        return [place.running for place in self._places if place.running]

    @staticmethod
    def _stands(place: WorkerSlot) -> bool:
        return place.running is not None and place.running.stood is not None

    def _wait_and_hear(self, signals: CaughtSignals | None = None) -> None:
        """Wait for at most a beat until a worker reports or ends, or a signal comes; signals are heard first.

        A signal that reaches all processes of a server ends the workers too, and no new worker is started.
        """
        connections: list[Connection | socket.socket] = [running.reports for running in self._running()]
        wait([*connections, *([signals.woken] if signals else [])], BEAT)
        if signals:
            self._hear_signals(signals)
        for place in self._places:
            with contextlib.suppress(OSError):
                if place.running and place.running.reports.poll():
                    self._hear(place)
        for place in self._places:
            if place.hangs(self._patience) and place.running:
                self._say(f"worker {place.worker.number} gives no sign of life and is killed")
                send(place.running.process, signal.SIGKILL)  # the next look finds that it has ended

    def _hear_signals(self, signals: CaughtSignals) -> None:
        with contextlib.suppress(BlockingIOError):
            signals.woken.recv(1_024)
        for _ in signals.came[self._heard_signals :]:
            self._heard_signals += 1
            again = self._until is not None
            self._until = time.monotonic() + (_AT_ONCE if again else self._seconds + _GRACE)
            for running in self._running():
                send(running.process, AT_ONCE if again else signal.SIGTERM)
            self._listening.close()

    def _start(self, place: WorkerSlot) -> None:
        """Start a worker; if the system refuses, it is tried again later."""
        try:
            place.start(self._listening, self._tasks)
        except Exception as error:
            if not self._serving and not isinstance(error, HeedfulError | MemoryError):
                raise HeedfulError(f"a worker cannot be started: {error}") from error
            self._failed(place, error, passing=is_passing(error))
            return
        if place.news:
            self._say(place.news)
            place.news = ""

    def _hear(self, place: WorkerSlot) -> None:
        """Take what a worker reports: its tasks, why it cannot start, or nothing, which is its end."""
        running = place.running
        assert running
        try:
            report = running.reports.recv()
        except Exception:  # cut off in the middle, or no memory for it
            report = None
        if isinstance(report, dict):
            self._tasks, running.stood = report, time.monotonic()
            if self._serving:
                _let_answer(running.reports)
            return
        wait_for_all([running.process])
        place.hangs(self._patience)  # takes its last sign
        running.close()
        place.running = None
        with contextlib.suppress(Exception):
            shutil.rmtree(place.worker.folder, ignore_errors=True)
            keep_counts_of_ended(self._folder, place.worker.number)
        self._replace(place, running, report)

    def _replace(self, place: WorkerSlot, running: Running, report: Failed | None) -> None:
        """Report that a worker has ended, and when another one is started."""
        number, code = place.worker.number, running.process.exitcode
        if self._until is not None:
            self._clean = self._clean and code in (0, -signal.SIGTERM)
        elif self._serving and running.stood and code in _REQUESTED:
            place.wait()  # the system may be about to send the signal to the parent too
            place.news = f"worker {number} was asked to end, and another one takes its place"
        elif self._serving and running.is_proved:
            self._say(f"worker {number} {_ending(code)}, and another one takes its place")
        else:
            error = _why(running, report)
            self._failed(place, error, passing=is_passing(error) or bool(report and report.passing))

    def _failed(self, place: WorkerSlot, error: Exception, *, passing: bool) -> None:
        """Try again later, as long as another worker answers; a server that cannot answer ends after some tries."""
        if not self._serving:
            raise error
        seconds = place.fail(passing=passing)
        others = any(running.is_proved for running in self._running())
        if not others and (place.lasting >= _TRIES or place.failures >= _PASSING_TRIES):
            raise error if isinstance(error, HeedfulError | MemoryError) else HeedfulError(str(error))
        why = str(error) or "out of memory"
        self._say(f"worker {place.worker.number} cannot start, next try in {seconds:.0f} seconds: {why}")


def _why(running: Running, report: Failed | None) -> Exception:
    """Return the error that a worker which was of no use stands for."""
    code = running.process.exitcode
    if report:
        return report.kind(report.message)
    if code == ExitCode.OUT_OF_MEMORY:
        return MemoryError()
    when = "had answered a text" if running.stood else "could answer"
    return HeedfulError(
        f"a worker {_ending(code)} before it {when}. If the system killed it for its memory, use fewer --workers"
    )


def _let_answer(connection: Connection) -> None:
    """Let a worker answer; if it has died meanwhile, the next look finds that."""
    with contextlib.suppress(OSError):
        connection.send(None)


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit status {code}"
