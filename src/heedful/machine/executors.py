"""Where independent calls run: one after the other in this process, or as tasks of a Ray cluster."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Generic, Protocol, TypeVar

from heedful.errors import HeedfulError, MissingExtraError, UsageError
from heedful.machine import threads
from heedful.machine.child import Failed

Outcome = TypeVar("Outcome")
Returned = TypeVar("Returned", covariant=True)
RETRIES = 3
"""How often Ray begins a call again whose worker or machine died; what was kept on disk is not repeated."""
_REACHED = 5.0
"""Seconds within which a cluster must take a connection."""


@dataclass(frozen=True)
class Call(Generic[Returned]):
    """One of several calls that do not need each other.

    Attributes:
        name: what messages call it.
        work: a function of a module.
        arguments: what it is given: plain values and records, every path absolute.
    """

    name: str
    work: Callable[..., Returned]
    arguments: tuple[object, ...]


class Executor(Protocol):
    """Runs independent calls."""

    def each(
        self, calls: Sequence[Call[Outcome]], *, again: bool = True
    ) -> Iterator[tuple[int, Outcome | Failed]]:
        """Run calls.

        Args:
            calls: what is to be run.
            again: whether a call whose process died may be begun again.

        Returns:
            The place of a call among ``calls`` and what it returned, or `Failed`; in the order in which they end.
        """


class OneByOne:
    """Runs calls one after the other in this process; see `Executor`."""

    def each(
        self, calls: Sequence[Call[Outcome]], *, again: bool = True
    ) -> Iterator[tuple[int, Outcome | Failed]]:
        """See `Executor.each`."""
        for place, call in enumerate(calls):
            yield place, _outcome(call)


@contextlib.contextmanager
def ray_cluster(address: str) -> Iterator[Executor]:
    """Connect to a Ray cluster, as long as the body runs.

    Args:
        address: of the cluster, such as "10.0.0.1:6379"; "auto" for the one that runs on this machine; "local" starts
            one here, with all cores of this machine.

    Yields:
        What runs each call as a task of one core.

    Raises:
        MissingExtraError: if Ray is not installed.
        UsageError: if there is no cluster at the address.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("ray", "ray", "running on a cluster") from error
    _refuse_unreachable(address)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    os.environ.setdefault(
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0"
    )  # what its next version does, without the warning
    try:
        more: dict[str, object] = {"include_dashboard": False} if address == "local" else {}
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **more)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise _no_cluster(address, str(error)) from error
    with contextlib.suppress(ValueError):  # outside of the main thread Ray has not touched them
        for number, handler in handlers.items():
            signal.signal(number, handler)
    try:
        yield _OnRay(ray)
    finally:
        ray.shutdown()


def _refuse_unreachable(address: str) -> None:
    """Refuse HOST:PORT where nothing listens; Ray would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not (port.isascii() and port.isdigit() and len(port) <= 5):
        return
    try:
        socket.create_connection((host, int(port)), timeout=_REACHED).close()
    except OSError as error:
        raise _no_cluster(address, error.strerror or str(error)) from error


def _no_cluster(address: str, why: str) -> UsageError:
    said = " ".join(why.split()).rstrip(".")
    return UsageError(
        f"--ray {address}: there is no Ray cluster: {said:.200}. Start one with 'ray start --head', or pass --ray local"
    )


class _OnRay:
    def __init__(self, ray: ModuleType) -> None:
        self._ray = ray

    def each(
        self, calls: Sequence[Call[Outcome]], *, again: bool = True
    ) -> Iterator[tuple[int, Outcome | Failed]]:
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=RETRIES if again else 0)(_there)
        running = {
            task.options(name=call.name).remote(call, os.getcwd()): place for place, call in enumerate(calls)
        }
        while running:
            ended, _ = ray.wait(list(running))
            for reference in ended:
                place = running.pop(reference)
                try:
                    yield place, ray.get(reference)
                except ray.exceptions.RayError as error:
                    said = " ".join(str(error).split())
                    yield place, Failed(HeedfulError, f"Ray gave up {calls[place].name}: {said:.300}")


def _outcome(call: Call[Outcome]) -> Outcome | Failed:
    """Run a call; what goes wrong comes back as a record, not as an exception of the engine's."""
    try:
        return call.work(*call.arguments)
    except Exception as error:
        return Failed.of(error, call.name)


def _there(call: Call[Outcome], folder: str) -> Outcome | Failed:
    """Run a call on another machine in the working folder of this one, to which names of files may be relative."""
    with contextlib.suppress(OSError):
        os.chdir(folder)
    return _outcome(call)


def with_one_thread() -> None:
    """Let a task compute with one thread, as it has one core."""
    threads.begin(1)
    threads.settle()


def absolute(path: Path | None) -> Path | None:
    """Return a path as every machine can read it, if they share the folder."""
    return None if path is None else Path(os.path.abspath(path))
