"""Processes that prepare once and then do one task after the other; a process that dies costs nothing but its task."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from heedful.errors import ExitCode, HeedfulError, Interrupted
from heedful.machine import threads
from heedful.machine.child import (
    PATIENCE,
    Failed,
    end_all,
    end_with_parent,
    send,
    threads_for_children,
    wait_for_all,
)
from heedful.machine.heartbeat import BEAT, Stillness, beat, heard
from heedful.machine.signals import Terminated, let_terminate, signals_held_back, signals_raise

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Task = TypeVar("Task")
Result = TypeVar("Result")
_SPAWN: Any = multiprocessing.get_context("spawn")
_PAUSE, _DOUBLED = 1.0, 6
"""Seconds before the system is asked again for a process; twice as many after each refusal, so many times."""
STILL, _START = 120.0, 120.0
"""Seconds without a sign of life after which a process is killed and its task is begun again, and those that it has
beside them until the first sign."""


@dataclass(frozen=True)
class Manner:
    """How processes do tasks.

    Attributes:
        threads: of each process; None lets each choose.
        tries: how often a task is begun whose process ends without a word, as one does that the system kills for its
            memory.
        watched: whether a process without a sign of life for `STILL` seconds is killed.
        fresh: whether each task has a process of its own.
        patience: seconds that processes have to end when they are asked to, before they are killed; None sets no
            limit, for tasks that save their state first.
    """

    threads: int | None = 1
    tries: int = 2
    watched: bool = True
    fresh: bool = False
    patience: float | None = PATIENCE


class Member:
    """A process that does one task after the other.

    Args:
        prepare: a function of a module; the process calls it once, and what it returns does a task.
        arguments: what ``prepare`` is given.
        manner: how it does them.

    Attributes:
        process: the process.
        connection: where tasks go and answers come from.
        pulse: where its signs of life come from.
        task: number of its task, for whoever gives out numbers.

    Raises:
        OSError: or another error, if the system gives no connection or no process.
    """

    def __init__(
        self, prepare: Callable[..., Callable[[Any], object]], arguments: Sequence[object], manner: Manner
    ) -> None:
        with contextlib.ExitStack() as opened:
            ours, theirs = _SPAWN.Pipe()
            opened.callback(ours.close)
            opened.callback(theirs.close)
            pulse, beats = _SPAWN.Pipe(duplex=False)
            opened.callback(pulse.close)
            opened.callback(beats.close)
            self.process = _SPAWN.Process(target=_serve, args=(theirs, beats, manner.threads))
            self.process.daemon = manner.patience is not None  # what saves may have processes of its own
            with threads_for_children(manner.threads), signals_held_back():
                self.process.start()
            opened.pop_all()
        theirs.close()
        beats.close()
        self.connection: Connection = ours
        self.pulse: Connection = pulse
        self.task = -1
        self._stillness, self._beats = Stillness(), 0
        self._preparation: object = (prepare, tuple(arguments))

    def give(self, name: str, task: object) -> None:
        """Give it a task; the answer of its connection is the result or `Failed`, and its end an `EOFError`.

        Args:
            name: what messages call the task.
            task: what is handed to what ``prepare`` returned.
        """
        with contextlib.suppress(OSError):  # it has just died, which whoever waits for its answer finds
            self.connection.send((name, task))
            if self._preparation is not None:
                self.connection.send(self._preparation)
                self._preparation = None

    def hangs(self) -> bool:
        """Return whether it has given no sign of life for too long."""
        self._beats += bool(heard(self.pulse))
        return self._stillness.look(self._beats) > (STILL if self._beats else STILL + _START)

    def close(self) -> None:
        """Tell it that no more tasks come, and wait for its end."""
        self.connection.close()
        wait_for_all([self.process])
        self.pulse.close()


def each_done(
    prepare: Callable[..., Callable[[Task], Result]],
    arguments: Sequence[object],
    tasks: Sequence[Task],
    *,
    jobs: int,
    name: Callable[[Task], str] = str,
    manner: Manner | None = None,
) -> Generator[tuple[Task, Result], None, None]:
    """Do tasks in processes; with one job in this process.

    A process that is killed, or that gives no sign of life for `STILL` seconds, is replaced. If the system refuses a
    new one, the others go on and it is asked again with growing pauses, as long as there are others.

    Args:
        prepare: a function of a module; each process calls it once, and what it returns does a task.
        arguments: what ``prepare`` is given.
        tasks: what is to be done.
        jobs: processes.
        name: what messages call a task.
        manner: how the processes do it; by default with one thread each.

    Yields:
        A task and its result, in the order in which they end.

    Raises:
        HeedfulError: the first error of a task, of its own kind; the other processes are stopped then. Also if a
            task's process was killed too often, or the system refuses processes and none is left.
    """
    if jobs == 1:
        do = prepare(*arguments)
        for task in tasks:
            yield task, do(task)
        return
    ended = each_ended(prepare, arguments, tasks, jobs=jobs, name=name, manner=manner)
    with contextlib.closing(ended):
        for task, result in ended:
            if isinstance(result, Failed):
                raise result.kind(result.message)
            yield task, result


def each_ended(
    prepare: Callable[..., Callable[[Task], Result]],
    arguments: Sequence[object],
    tasks: Sequence[Task],
    *,
    jobs: int,
    name: Callable[[Task], str] = str,
    manner: Manner | None = None,
    begun: Callable[[Task], None] = lambda _: None,
) -> Generator[tuple[Task, Result | Failed], None, None]:
    """Do tasks in processes, also where there is one job; the others go on after one that fails.

    Args:
        prepare: a function of a module; each process calls it once, and what it returns does a task.
        arguments: what ``prepare`` is given.
        tasks: what is to be done.
        jobs: processes.
        name: what messages call a task.
        manner: how the processes do it; by default with one thread each.
        begun: called with a task when a process gets it.

    Yields:
        A task and its result, or what went wrong, in the order in which they end. Whoever leaves early closes the
        generator, which ends the processes.

    Raises:
        HeedfulError: if the system refuses processes and none is left.
    """
    crew = _Crew(prepare, tuple(arguments), tasks, min(jobs, len(tasks)), name, manner or Manner(), begun)
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
        manner: Manner,
        begun: Callable[[Task], None],
    ) -> None:
        self._prepare, self._arguments, self._tasks, self._jobs = prepare, arguments, tasks, jobs
        self._name, self._manner, self._report = name, manner, begun
        self._waiting, self._begun = deque(range(len(tasks))), Counter[int]()
        self._members: dict[Any, Member] = {}  # by the connection to each
        self._refused, self._again = 0, 0.0

    def results(self) -> Iterator[tuple[int, Result | Failed]]:
        """Let the crew work; give the number of each task and its result."""
        self._start_missing()
        while self._members or self._waiting:
            for connection in cast(list[Any], wait(list(self._members), BEAT)):
                yield from self._answer(connection)
            for member in self._members.values():
                if self._manner.watched and member.hangs():
                    send(member.process, signal.SIGKILL)  # the next look finds that it has ended
            self._start_missing()

    def end(self) -> None:
        """End those that still work."""
        end_all([member.process for member in self._members.values()], self._manner.patience)
        for member in self._members.values():
            member.connection.close()
            member.pulse.close()

    def _answer(self, connection: Any) -> Iterator[tuple[int, Result | Failed]]:
        member = self._members[connection]
        number = member.task
        try:
            answer = connection.recv()
        except (EOFError, OSError):
            self._let_go(connection)
            if self._begun[number] < self._manner.tries:
                self._waiting.appendleft(number)
                return
            message = _killed(self._name(self._tasks[number]), self._begun[number], member.process.exitcode)
            answer = Failed(HeedfulError, message)
        else:
            if self._waiting and not self._manner.fresh and not isinstance(answer, Failed):
                self._give(member, self._waiting.popleft())
            else:
                self._let_go(connection)
        yield number, answer

    def _let_go(self, connection: Any) -> None:
        self._members.pop(connection).close()

    def _start_missing(self) -> None:
        """Begin the processes that are missing; if the system refuses one, try later."""
        while self._waiting and len(self._members) < self._jobs and time.monotonic() >= self._again:
            try:
                member = Member(self._prepare, self._arguments, self._manner)
            except (OSError, MemoryError) as error:
                if not self._members:
                    raise HeedfulError(
                        f"the system gives no process: {error}. Run the same command again, with fewer --jobs"
                    ) from error
                self._again = time.monotonic() + _PAUSE * 2 ** min(self._refused, _DOUBLED)
                self._refused += 1
                return
            self._refused = 0
            self._members[member.connection] = member
            self._give(member, self._waiting.popleft())

    def _give(self, member: Member, number: int) -> None:
        self._begun[number] += 1
        member.task = number
        self._report(self._tasks[number])
        member.give(self._name(self._tasks[number]), self._tasks[number])


def _killed(name: str, times: int, code: int | None) -> str:
    return (
        f"{name}: its process ended {f'{times} times ' if times > 1 else ''}with exit status {code}. If the system "
        "killed it for its memory, use fewer --jobs; then run the same command again"
    )


def _serve(connection: Connection, beats: Connection, number: int | None) -> None:
    """Do tasks until no more come; what is half written is removed when the process is asked to end."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C asks the process that waits, which then ends this one
    try:
        with signals_raise():
            let_terminate()
            threads.begin(number)  # before the module of a task is imported, which may load torch
            end_with_parent()
            beat(beats, lambda: b"1")
            _do_all(connection)
    except Terminated:
        sys.exit(ExitCode.TERMINATED)


def _do_all(connection: Connection) -> None:
    do: Callable[[object], object] | None = None
    try:
        while True:
            name, task = connection.recv()
            try:
                if do is None:
                    prepare, arguments = connection.recv()  # which imports the module of the function
                    do = prepare(*arguments)
                connection.send(do(task))
            except (Exception, KeyboardInterrupt) as error:
                failed = Failed.of(error, name)
                connection.send(failed)
                if issubclass(failed.kind, Interrupted):  # it was asked to end
                    sys.exit(ExitCode.INTERRUPTED)
                if do is None:  # without what it prepares it can do nothing
                    return
    except (EOFError, OSError):  # nobody waits any more
        return
