"""Processes that prepare once and then do one task after the other; a process that dies costs nothing but its task."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from heedful.errors import ExitCode, HeedfulError
from heedful.machine import threads
from heedful.machine.child import Failed, end_with_parent, threads_for_children
from heedful.machine.endings import end_all, send, wait_for_all
from heedful.machine.heartbeat import BEAT, Stillness, beat, heard

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

Task = TypeVar("Task")
Result = TypeVar("Result")
_SPAWN = multiprocessing.get_context("spawn")
TRIES = 2
"""How often a task is begun whose process ends without a word, as one does that the system kills for its memory."""
_PAUSE, _DOUBLED = 1.0, 6
"""Seconds before the system is asked again for a process; twice as many after each refusal, so many times."""
STILL, _START = 120.0, 120.0
"""Seconds without a sign of life after which a process is killed and its task is begun again, and those that it has
beside them until the first sign."""


@dataclass
class _Worker:
    """One process of a crew.

    Attributes:
        process: the process.
        pulse: where its signs of life come.
        number: of its task.
        stillness: for how long there was no sign.
        beats: signs so far.
    """

    process: SpawnProcess
    pulse: Connection
    number: int
    stillness: Stillness = field(default_factory=Stillness)
    beats: int = 0

    def hangs(self) -> bool:
        """Whether it has given no sign of life for too long."""
        self.beats += bool(heard(self.pulse))
        return self.stillness.look(self.beats) > (STILL if self.beats else STILL + _START)


def each_done(
    prepare: Callable[..., Callable[[Task], Result]],
    arguments: Sequence[object],
    tasks: Sequence[Task],
    *,
    jobs: int,
    name: Callable[[Task], str] = str,
) -> Iterator[tuple[Task, Result]]:
    """Do tasks in processes of one thread each; with one job in this process.

    A process that is killed, or that gives no sign of life for `STILL` seconds, is replaced. If the system refuses a
    new one, the others go on and it is asked again with growing pauses, as long as there are others.

    Args:
        prepare: a function of a module; each process calls it once, and what it returns does a task.
        arguments: what ``prepare`` is given.
        tasks: what is to be done.
        jobs: processes.
        name: what messages call a task.

    Yields:
        A task and its result, in the order in which they end.

    Raises:
        HeedfulError: the first error of a task, of its own kind; the other processes are stopped then. Also if a
            task's process was killed twice, or the system refuses processes and none is left.
    """
    if jobs == 1:
        do = prepare(*arguments)
        for task in tasks:
            yield task, do(task)
        return
    crew = _Crew(prepare, tuple(arguments), tasks, min(jobs, len(tasks)), name)
    try:
        for number, result in crew.results():
            yield tasks[number], result
    finally:
        crew.end()


class _Crew(Generic[Task, Result]):
    def __init__(
        self,
        prepare: Callable[..., Callable[[Task], Result]],
        arguments: tuple[object, ...],
        tasks: Sequence[Task],
        jobs: int,
        name: Callable[[Task], str],
    ) -> None:
        self._prepare, self._arguments, self._tasks, self._jobs = prepare, arguments, tasks, jobs
        self._name, self._waiting, self._begun = name, deque(range(len(tasks))), Counter[int]()
        self._workers: dict[Any, _Worker] = {}  # by the connection to each
        self._refused, self._again = 0, 0.0

    def results(self) -> Iterator[tuple[int, Result]]:
        """Let the crew work; give the number of each task and its result."""
        self._start_missing()
        while self._workers or self._waiting:
            for connection in cast(list[Any], wait(list(self._workers), BEAT)):
                yield from self._answer(connection)
            for worker in self._workers.values():
                if worker.hangs():
                    send(worker.process, signal.SIGKILL)  # the next look finds that it has ended
            self._start_missing()

    def end(self) -> None:
        """End those that still work."""
        end_all(worker.process for worker in self._workers.values())
        for connection, worker in self._workers.items():
            connection.close()
            worker.pulse.close()

    def _answer(self, connection: Connection) -> Iterator[tuple[int, Result]]:
        worker = self._workers[connection]
        try:
            answer = connection.recv()
        except (EOFError, OSError):
            self._end_worker(connection)
            if self._begun[worker.number] >= TRIES:
                raise HeedfulError(
                    _killed(self._name(self._tasks[worker.number]), worker.process.exitcode)
                ) from None
            self._waiting.appendleft(worker.number)
            return
        if isinstance(answer, Failed):
            raise answer.kind(answer.message)
        number = worker.number
        if self._waiting:
            self._send(connection, self._waiting.popleft())
        else:
            self._end_worker(connection)
        yield number, answer

    def _end_worker(self, connection: Connection) -> None:
        worker = self._workers.pop(connection)
        connection.close()  # which tells it that no more tasks come
        wait_for_all([worker.process])
        worker.pulse.close()

    def _start_missing(self) -> None:
        """Begin the processes that are missing; if the system refuses one, try later."""
        while self._waiting and len(self._workers) < self._jobs and time.monotonic() >= self._again:
            try:
                connection = self._begin()
            except (OSError, MemoryError) as error:
                if not self._workers:
                    raise HeedfulError(
                        f"the system gives no process: {error}. Run the same command again, with fewer --jobs"
                    ) from error
                self._again = time.monotonic() + _PAUSE * 2 ** min(self._refused, _DOUBLED)
                self._refused += 1
                return
            self._refused = 0
            self._send(connection, self._waiting.popleft())

    def _begin(self) -> Connection:
        """Begin a process; its task is given to it afterwards."""
        with contextlib.ExitStack() as opened:
            ours, theirs = _SPAWN.Pipe()
            opened.callback(ours.close)
            opened.callback(theirs.close)
            pulse, beats = _SPAWN.Pipe(duplex=False)
            opened.callback(pulse.close)
            opened.callback(beats.close)
            work = (theirs, beats, self._prepare, self._arguments)
            process = _SPAWN.Process(target=_work, args=work, daemon=True)
            with threads_for_children(1):
                process.start()
            opened.pop_all()
        theirs.close()
        beats.close()
        self._workers[ours] = _Worker(process, pulse, -1)
        return ours

    def _send(self, connection: Connection, number: int) -> None:
        self._begun[number] += 1
        self._workers[connection].number = number
        with contextlib.suppress(OSError):  # it has just died, which the next look finds
            connection.send(self._tasks[number])


def _killed(name: str, code: int | None) -> str:
    return (
        f"{name}: its process ended {TRIES} times with exit status {code}. If the system killed it for its memory, use "
        "fewer --jobs; then run the same command again"
    )


def _work(
    connection: Connection,
    beats: Connection,
    prepare: Callable[..., Callable[[Task], object]],
    arguments: Sequence[object],
) -> None:
    """Do tasks until no more come; what is half written is removed when the process is asked to end."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C asks the process that waits, which then ends this one
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.TERMINATED))
    threads.begin(1)
    end_with_parent()
    beat(beats, lambda: b"1")
    try:
        do = prepare(*arguments)
        while True:
            try:
                task = connection.recv()
            except EOFError:
                return
            connection.send(do(task))
    except BrokenPipeError:
        return
    except Exception as error:
        with contextlib.suppress(OSError):
            connection.send(Failed.of(error, "a part"))
        sys.exit(1)
    finally:
        # Nothing is half written any more, and an exit that is raised while Python ends would be printed.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
