"""Long work that can be stopped from another thread, between two of its steps."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


class Canceled(BaseException):
    """Nobody waits for the work any more; no library takes it for an error of its own."""


class Cancel:
    """Asks work to stop.

    Attributes:
        is_set: whether it is to stop.
    """

    def __init__(self) -> None:
        self.is_set = False


class _OfThread(threading.local):
    cancel: Cancel | None = None


_NOW = _OfThread()


@contextlib.contextmanager
def canceled_by(cancel: Cancel) -> Iterator[None]:
    """While entered, `in_steps` in this thread ends the work once it is asked to stop.

    Args:
        cancel: what another thread asks by.
    """
    former, _NOW.cancel = _NOW.cancel, cancel
    try:
        yield
    finally:
        _NOW.cancel = former


def in_steps(items: Iterable[Item]) -> Iterator[Item]:
    """Give the items of long work; it ends between two of them if nobody waits for it any more.

    Args:
        items: what the work is done for.

    Yields:
        Each item.

    Raises:
        Canceled: if the work is to stop.
    """
    for item in items:
        if _NOW.cancel is not None and _NOW.cancel.is_set:
            raise Canceled
        yield item
