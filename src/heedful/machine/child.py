"""Processes that Heedful starts: they end with the one that started them, and hand back a result or what went wrong."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import runpy
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heedful.errors import HeedfulError, Interrupted, UsageError
from heedful.machine import threads
from heedful.machine.endings import end_all, wait_for_all
from heedful.machine.passing import is_passing

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

_SPAWN = multiprocessing.get_context("spawn")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Failed:
    """What ended a process.

    Attributes:
        kind: the class of the error; of the kinds of wrong usage the common one, which is made of a message alone.
        message: what it says.
        passing: whether another try may go well; see `heedful.machine.passing`.
    """

    kind: type[HeedfulError]
    message: str
    passing: bool = False

    @classmethod
    def of(cls, error: BaseException, what: str) -> Failed:
        """Describe an error to the process that waits.

        Returns the record.
        """
        if isinstance(error, KeyboardInterrupt):
            return cls(Interrupted, "asked to stop")
        if isinstance(error, HeedfulError):
            kind = UsageError if isinstance(error, UsageError) else type(error)
            return cls(kind, str(error), is_passing(error))
        said = f"internal error in {what}: {type(error).__name__}: {error}"
        return cls(HeedfulError, said, is_passing(error))


def call(
    work: Callable[..., object],
    arguments: Sequence[object],
    what: str,
    *,
    number: int | None,
    children: list[SpawnProcess],
) -> object:
    """Call a function in a process of its own, which takes its own look at the load of the machine.

    Args:
        work: a function of a module.
        arguments: what it is given.
        what: it does, for messages.
        number: threads of the process; None lets it choose.
        children: gets the process, so that it can be asked to stop.

    Returns:
        What the function returns, or `Failed`.
    """
    ours, theirs = _SPAWN.Pipe()
    child = _SPAWN.Process(target=_serve, args=(theirs, number, what))
    child.start()
    theirs.close()
    children.append(child)
    try:
        ours.send((work, tuple(arguments)))
        return ours.recv()
    except (EOFError, OSError):
        wait_for_all([child])
        return Failed(HeedfulError, f"the process of {what} ended with exit status {child.exitcode}")
    finally:
        child.join()
        ours.close()


def _serve(connection: Connection, number: int | None, what: str) -> None:
    """Receive a function and call it; threads come first, since the function's module may load torch."""
    threads.begin(number)
    end_with_parent()
    try:
        work, arguments = connection.recv()
        connection.send(work(*arguments))
    except (Exception, KeyboardInterrupt) as error:
        with contextlib.suppress(OSError):  # nobody waits any more
            connection.send(Failed.of(error, what))
        sys.exit(1)


def run_command(words: Sequence[str]) -> int:
    """Run the command ``heedful`` in a process of its own; it prints what it prints.

    Returns its exit status; that of a signal is negative.
    """
    child = _SPAWN.Process(target=_be_command, args=(tuple(words),))
    child.start()
    try:
        child.join()
    except BaseException:
        end_all([child])
        raise
    return child.exitcode or 0


def _be_command(words: Sequence[str]) -> None:
    end_with_parent()
    sys.argv = ["heedful", *words]
    runpy.run_module("heedful", run_name="__main__", alter_sys=True)


@contextlib.contextmanager
def threads_for_children(number: int | None) -> Iterator[None]:
    """Set in the environment how many threads a process is to have: its libraries read that when they are loaded.

    Args:
        number: of threads; None leaves the environment as it is.
    """
    before = {name: os.environ.get(name) for name in _THREADS}
    if number is not None:
        os.environ.update(dict.fromkeys(_THREADS, str(number)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def end_with_parent() -> None:
    """Ask this process to stop once the one that started it has ended, killed or not: nobody else would.

    A run then saves its state. To be called in a process that `multiprocessing` started; in any other it does nothing.
    """
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
