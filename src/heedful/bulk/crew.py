"""Processes that prepare once and then do one task after the other; a process that dies costs nothing but its task."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeVar, cast

from heedful.errors import ExitCode, HeedfulError
from heedful.machine import threads
from heedful.machine.child import Failed, end_with_parent, threads_for_children

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    Busy = dict[Any, tuple[SpawnProcess, int]]
    """The connection to each process, the process, and the number of its task."""

Task = TypeVar("Task")
Result = TypeVar("Result")
_SPAWN = multiprocessing.get_context("spawn")
TRIES = 2
"""How often a task is begun whose process ends without a word, as one does that the system kills for its memory."""


def each_done(
    prepare: Callable[..., Callable[[Task], Result]],
    arguments: Sequence[object],
    tasks: Sequence[Task],
    *,
    jobs: int,
    name: Callable[[Task], str] = str,
) -> Iterator[tuple[Task, Result]]:
    """Do tasks in processes of one thread each; with one job in this process.

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
            task's process was killed twice.
    """
    if jobs == 1:
        do = prepare(*arguments)
        for task in tasks:
            yield task, do(task)
        return
    waiting, begun = deque(range(len(tasks))), Counter[int]()
    busy: Busy = {}
    try:
        for _ in range(min(jobs, len(tasks))):
            _hire(busy, prepare, arguments, waiting.popleft(), tasks, begun)
        while busy:
            for connection in cast(list[Any], wait(list(busy))):
                process, number = busy[connection]
                try:
                    answer = connection.recv()
                except (EOFError, OSError):
                    del busy[connection]
                    process.join()
                    if begun[number] >= TRIES:
                        raise HeedfulError(_killed(name(tasks[number]), process.exitcode)) from None
                    _hire(busy, prepare, arguments, number, tasks, begun)
                    continue
                if isinstance(answer, Failed):
                    raise answer.kind(answer.message)
                if waiting:
                    _give(connection, busy, waiting.popleft(), tasks, begun)
                else:
                    del busy[connection]
                    connection.close()
                    process.join()
                yield tasks[number], answer
    finally:
        for connection, (process, _) in busy.items():
            process.terminate()
            process.join()
            connection.close()


def _killed(name: str, code: int | None) -> str:
    return (
        f"{name}: its process ended {TRIES} times with exit status {code}. If the system killed it for its memory, use "
        "fewer --jobs; then run the same command again"
    )


def _hire(
    busy: Busy,
    prepare: Callable[..., Callable[[Task], object]],
    arguments: Sequence[object],
    number: int,
    tasks: Sequence[Task],
    begun: Counter[int],
) -> None:
    ours, theirs = _SPAWN.Pipe()
    process = _SPAWN.Process(target=_work, args=(theirs, prepare, tuple(arguments)), daemon=True)
    with threads_for_children(1):
        process.start()
    theirs.close()
    busy[ours] = process, number
    _give(ours, busy, number, tasks, begun)


def _give(
    connection: Connection,
    busy: Busy,
    number: int,
    tasks: Sequence[object],
    begun: Counter[int],
) -> None:
    begun[number] += 1
    busy[connection] = busy[connection][0], number
    with contextlib.suppress(OSError):  # it has just died, which the next look finds
        connection.send(tasks[number])


def _work(
    connection: Connection, prepare: Callable[..., Callable[[Task], object]], arguments: Sequence[object]
) -> None:
    """Do tasks until no more come; what is half written is removed when the process is asked to end."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C asks the process that waits, which then ends this one
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.TERMINATED))
    threads.begin(1)
    end_with_parent()
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
