"""What processes that Heedful starts share: how they end, with the one that started them, and what went wrong."""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

from heedful.errors import DataError, HeedfulError, Interrupted, UsageError

_PASSING = frozenset(
    {
        errno.EAGAIN,
        errno.EBUSY,
        errno.EDQUOT,
        errno.EINTR,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EROFS,
        errno.ESTALE,
        errno.ETIMEDOUT,
    }
)


def is_passing(error: BaseException) -> bool:
    """Return whether an error may be gone at another try, because it, or what it was made of, is one of the system.

    Args:
        error: the error.

    Returns:
        False for a mistake of the user or of the data.
    """
    seen = set[int]()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        if isinstance(each, MemoryError) or (isinstance(each, OSError) and each.errno in _PASSING):
            return True
        if isinstance(each, UsageError | DataError) and each.__cause__ is None:
            return False
        each = each.__cause__ or each.__context__
    return False


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Failed:
    """What ended a process.

    Attributes:
        kind: the class of the error; of the kinds of wrong usage the common one, which is made of a message alone.
        message: what it says.
        passing: whether another try may go well; see `heedful.machine.child`.
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


PATIENCE = 10.0
"""Seconds that a process has to end by itself."""


def end_all(processes: Iterable[BaseProcess], seconds: float | None = PATIENCE) -> None:
    """Ask processes to end, wait for them, and kill those that do not: one that is stopped, or hangs, hears no asking.

    Args:
        processes: that this process has started.
        seconds: that they have in all; None for as long as it takes.
    """
    running = list(processes)
    for process in running:
        send(process, signal.SIGTERM)
    wait_for_all(running, seconds)


def wait_for_all(processes: Iterable[BaseProcess], seconds: float | None = PATIENCE) -> None:
    """Wait for processes that are about to end, and kill those that do not.

    Args:
        processes: that this process has started.
        seconds: that they have in all; None for as long as it takes.
    """
    until = None if seconds is None else time.monotonic() + seconds
    for process in processes:
        process.join(None if until is None else max(0.0, until - time.monotonic()))
        if process.exitcode is None:
            send(process, signal.SIGKILL)
            process.join()


def send(process: BaseProcess, number: int) -> None:
    """Send a signal to a process; nothing happens if it has ended.

    Args:
        process: that this process has started.
        number: of the signal.
    """
    if process.pid is not None and process.exitcode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
