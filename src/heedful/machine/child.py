"""What processes that Heedful starts share: they end with the one that started them, and say what went wrong."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from heedful.errors import HeedfulError, Interrupted, UsageError
from heedful.machine.passing import is_passing

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
