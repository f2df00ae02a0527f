"""One writer a folder: a lock that ends with its process, on file systems with and without `flock`."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path

from heedful.errors import InUseError
from heedful.storage.writing import is_dead, plain_errors, sweep, token

LOCK = ".heedful-lock"
"""File in a folder that a process is writing; it is removed when the process has done."""

_TAKEN = (errno.EAGAIN, errno.EACCES)
"""The system's errors by which it says that another process has the lock."""
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
"""The system's errors by which a file system says that it has no locks."""
_CLAIMS = 6
"""How often a claim is made before the folder counts as taken: two that meet both step back."""
_Release = Callable[[], None]
_HELD: ContextVar[frozenset[str]] = ContextVar("held", default=frozenset())


@contextlib.contextmanager
def alone(
    folder: Path, what: str, *, name: str = LOCK, wait: float = 0.0, option: str = "--out"
) -> Iterator[None]:
    """Keep every other writer out of a folder; the lock ends with this process, however it ends.

    The lock is `flock` on a file in the folder. On a file system without it, each process writes a file with its own
    name (`heedful.storage.writing`) and has the folder if no other living process has one there. Of a process of
    another machine it cannot be known whether it lives: the message names its file, which can be deleted by hand.
    What dead writers left half written in the folder is removed first.

    Args:
        folder: to have for oneself; it is made if it is not there, and removed again by whoever made it if it is empty
            when they leave.
        what: is at work in it, for the message.
        name: of the lock.
        wait: seconds to wait for another writer.
        option: of the command, which names another place.

    Yields:
        Nothing.

    Raises:
        InUseError: if another process, or another call in this one, has the folder.
        OutputError: if the folder cannot be made or written.
    """
    file, until = folder / name, time.monotonic() + wait
    made = [place for place in (folder, *folder.absolute().parents) if not place.exists()]
    try:
        with plain_errors(folder):
            while (release := _lock(file)) is None:
                if time.monotonic() >= until:
                    raise InUseError(
                        f"{folder}: another {what} is at work there; wait for it, or choose another "
                        f"{option}{_by_hand(file)}"
                    )
                time.sleep(random.uniform(0.005, 0.02))
        held = _HELD.set(_HELD.get() | {os.path.realpath(file)})
        try:
            sweep(folder)
            yield
        finally:
            _HELD.reset(held)
            release()
    finally:
        with contextlib.suppress(OSError):  # something is in it, which is the usual case
            for place in made:
                place.rmdir()


def holds(folder: Path) -> bool:
    """Return whether the caller has a folder by `alone`, so that what it calls need not ask for it again."""
    return os.path.realpath(folder / LOCK) in _HELD.get()


def _lock(file: Path) -> _Release | None:
    """Try once to take a lock; return what lets go of it, None while another has it."""
    while True:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:
            continue  # whoever had the folder has just removed it
        try:
            taken = _flock(handle)
            # Whoever lets go removes the file: a lock on one that is no longer there locks nothing.
            current = taken and _is_at(handle, file)
        except OSError as error:
            os.close(handle)
            if error.errno not in _NO_LOCKS:
                raise
            return _claim(file)
        if current:
            return lambda: _let_go(file, handle)
        os.close(handle)
        if not taken:
            return None


def _flock(handle: int) -> bool:
    """Lock an open file; return whether it was free. An OSError says that there are no such locks here."""
    try:
        import fcntl
    except ImportError as error:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        raise
    return True


def _is_at(handle: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False


def _let_go(file: Path, handle: int) -> None:
    with contextlib.suppress(OSError):  # the folder may be gone
        file.unlink()
    os.close(handle)


def _claim(file: Path) -> _Release | None:
    """Take a lock by a file of this process's own name: of two that see each other, both step back and try again."""
    with contextlib.suppress(OSError):
        file.unlink()
    own = file.with_name(f"{file.name}-{token()}")
    for attempt in range(_CLAIMS):
        try:
            os.close(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            return None  # another call in this process has it
        if not [other for other in _claims(file) if other != own]:
            return lambda: own.unlink(missing_ok=True)
        own.unlink()
        time.sleep(random.uniform(0.0, 0.01 * 2**attempt))
    return None


def _claims(file: Path) -> list[Path]:
    """List the claims of living processes, and of those of which it cannot be known; the others are removed."""
    found = []
    for claim in file.parent.glob(f"{file.name}-*"):
        if is_dead(claim.name):
            claim.unlink(missing_ok=True)
        else:
            found.append(claim)
    return found


def _by_hand(file: Path) -> str:
    """Name the claims that only a person can judge."""
    foreign = [str(claim) for claim in _claims(file) if is_dead(claim.name) is None]
    return (
        f" (on another machine; if nothing runs there any more, delete {', '.join(foreign)})"
        if foreign
        else ""
    )
