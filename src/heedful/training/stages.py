"""What is going on beside the steps of a network: fits of linear parts, simple models beside the run, explained texts.

Whoever works opens a `stage` and counts what is done; whoever shows progress listens with `stages_shown`. If nobody
listens, nothing happens.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TextIO

from heedful.training.progress import in_notebook, plain_lines

FIRST_SECONDS, EVERY_SECONDS = 2.0, 10.0
"""Lines tell of a stage once it has taken so long, and then again after so long."""
_APART = 0.5
"""Seconds between what is remembered of a stage, which may have a piece for each of a million rows."""


class ShownStage(Protocol):
    """Shows one stage."""

    def done(self, count: int) -> None:
        """Hear how much is done by now."""

    def close(self) -> None:
        """Hear that the stage is over."""


class Stage:
    """A piece of work that is being done.

    Args:
        total: how much there is to do at most.
        shown: shows it; None where nobody listens.
    """

    def __init__(self, total: int, shown: ShownStage | None) -> None:
        self.total, self.count, self._shown = total, 0, shown

    def step(self, count: int = 1) -> None:
        """Report that something was done.

        Args:
            count: how much.
        """
        self.reach(self.count + count)

    def reach(self, count: int) -> None:
        """Report that what lies before a place is done, or need not be done any more.

        Args:
            count: the place, 0 to ``total``.
        """
        self.count = min(max(count, self.count), self.total)
        if self._shown is not None:
            self._shown.done(self.count)


_LISTENS: ContextVar[Callable[[str, int], ShownStage] | None] = ContextVar("listens", default=None)


@contextmanager
def stage(title: str, total: int) -> Iterator[Stage]:
    """Report that a piece of work begins, and count it in the body.

    Args:
        title: what is done, such as "fitting linear parts".
        total: how much there is to do at most.

    Yields:
        What counts.
    """
    listens = _LISTENS.get()
    shown = listens(title, total) if listens is not None and total > 0 else None
    try:
        yield Stage(total, shown)
    finally:
        if shown is not None:
            shown.close()


@contextmanager
def stages_shown(quiet: bool = False) -> Iterator[None]:
    """Show the stages of the body on standard error: as bars on a terminal, as tqdm's in a notebook, else as lines.

    Args:
        quiet: whether to show nothing.

    Yields:
        Nothing.
    """
    kept = _LISTENS.set(None if quiet else _choose())
    try:
        yield
    finally:
        _LISTENS.reset(kept)


def _choose() -> Callable[[str, int], ShownStage]:
    if in_notebook() and importlib.util.find_spec("tqdm") is not None:
        return _OfNotebook
    return _Lines if plain_lines() else _Bar


def left(seconds: float) -> str:
    """Return how long something takes that takes so many seconds."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


class _Lines:
    """A line now and then, with the time that is left if the rest is as fast as the later half of what is done.

    The first pieces are often slower, because they read what the others use. After a single piece no time is given.
    """

    def __init__(self, title: str, total: int, stream: TextIO | None = None) -> None:
        self.title, self.total = title, total
        self._stream = sys.stderr if stream is None else stream
        self._heard = [(0, time.monotonic())]
        self._next = self._heard[0][1] + FIRST_SECONDS

    def done(self, count: int) -> None:
        now = time.monotonic()
        if now >= self._heard[-1][1] + _APART:
            self._heard.append((count, now))
        if now < self._next or not 0 < count < self.total:
            return
        self._next = now + EVERY_SECONDS
        before, since = next(each for each in reversed(self._heard) if each[0] <= count // 2)
        rest = (now - since) / (count - before) * (self.total - count)
        end = f", about {left(rest)} left" if count > 1 else ""
        self._stream.write(f"{self.title}: {count:,} of up to {self.total:,}{end}\n")
        self._stream.flush()

    def close(self) -> None:
        """End; a line says nothing of it."""


class _Bar:
    def __init__(self, title: str, total: int, stream: TextIO | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        file = getattr(sys.stderr, "terminal", sys.stderr) if stream is None else stream
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(file=file),
            transient=True,
        )
        self._task = self._progress.add_task(title, total=total)
        self._progress.start()

    def done(self, count: int) -> None:
        self._progress.update(self._task, completed=count)

    def close(self) -> None:
        self._progress.stop()


class _OfNotebook:
    def __init__(self, title: str, total: int) -> None:
        widgets = importlib.util.find_spec("ipywidgets") is not None
        kind = importlib.import_module("tqdm.notebook" if widgets else "tqdm.std").tqdm
        self._bar: Any = kind(total=total, desc=title, leave=False)

    def done(self, count: int) -> None:
        self._bar.update(count - self._bar.n)

    def close(self) -> None:
        self._bar.close()
