"""What a person sees of a run, on stderr: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Protocol, TextIO


class Reporter(Protocol):
    """Hears of a run's progress."""

    def start(self, total: int, done: int) -> None:
        """Begin, with some of the total steps already done."""

    def step(self, step: int, loss: float) -> None:
        """Hear that a step was taken."""

    def evaluation(self, record: Mapping[str, Any]) -> None:
        """Hear what an evaluation measured."""

    def close(self) -> None:
        """End, whether or not the run was completed."""


def choose_reporter(quiet: bool = False) -> Reporter:
    """Choose how to report: a bar on a terminal, lines elsewhere and under CI or NO_COLOR, nothing when quiet.

    Args:
        quiet: whether to report nothing.

    Returns:
        A reporter that writes to stderr.
    """
    if quiet:
        return Silent()
    plain = os.environ.get("CI") or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Lines(sys.stderr) if plain or not sys.stderr.isatty() else Bar(sys.stderr)


class Silent:
    """Reports nothing."""

    def start(self, total: int, done: int) -> None:
        """Begin."""

    def step(self, step: int, loss: float) -> None:
        """Ignore a step."""

    def evaluation(self, record: Mapping[str, Any]) -> None:
        """Ignore an evaluation."""

    def close(self) -> None:
        """End."""


class Lines:
    """Writes one line an evaluation.

    Args:
        stream: where to.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.total = 0

    def start(self, total: int, done: int) -> None:
        """Say how long the run may become."""
        self.total = total
        after = f" after {done} done before" if done else ""
        self._write(f"training: up to {total} steps{after}")

    def step(self, step: int, loss: float) -> None:
        """Ignore a step."""

    def evaluation(self, record: Mapping[str, Any]) -> None:
        """Write one line."""
        self._write(f"step {record['step']}/{self.total}  {summary(record)}")

    def close(self) -> None:
        """End."""

    def _write(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()


class Bar:
    """Draws a bar with the loss and the time left; evaluations stay above it as lines.

    Args:
        stream: a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]:.4f}"),
            TimeRemainingColumn(),
            console=Console(file=stream),
            transient=True,
        )
        self._task = self._progress.add_task("training", total=None, loss=float("nan"))

    def start(self, total: int, done: int) -> None:
        """Draw the bar."""
        self._progress.update(self._task, total=total, completed=done)
        self._progress.start()

    def step(self, step: int, loss: float) -> None:
        """Move the bar."""
        self._progress.update(self._task, completed=step, loss=loss)

    def evaluation(self, record: Mapping[str, Any]) -> None:
        """Write one line above the bar."""
        self._progress.console.print(
            f"step {record['step']}  {summary(record)}", highlight=False, markup=False
        )

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()


def summary(record: Mapping[str, Any]) -> str:
    """Put an evaluation's record into one line.

    Args:
        record: with ``seconds``, ``epoch``, ``loss``, ``best`` and the metrics.

    Returns:
        Epoch, loss, metrics, what else was recorded, time; "best" at the end where it is the best so far.
    """
    aside = {"kind", "step", "seconds", "epoch", "best"}
    values = [
        f"{key} {value:.4f}" for key, value in record.items() if key not in aside and isinstance(value, float)
    ]
    said = [f"{key} {value}" for key, value in record.items() if key not in aside and isinstance(value, str)]
    minutes, seconds = divmod(round(record["seconds"]), 60)
    best = ["best"] if record.get("best") else []
    return "  ".join([f"epoch {record['epoch']:.2f}", *values, *said, f"{minutes}:{seconds:02d}", *best])
