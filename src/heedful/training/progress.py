"""What a person sees of a run, on stderr: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol, TextIO

from heedful.errors import ArtifactError
from heedful.machine import threads
from heedful.storage import plain_errors, write_text
from heedful.storage.fields import Fields, parsed
from heedful.tables import figure


class Reporter(Protocol):
    """Hears of a run's progress."""

    def start(self, total: int, done: int) -> None:
        """Begin, with some of the total steps already done."""

    def step(self, step: int, loss: float) -> None:
        """Hear that a step was taken."""

    def evaluation(self, record: Mapping[str, object]) -> None:
        """Hear what an evaluation measured."""

    def sign(self, sentence: str) -> None:
        """Hear of a sign that training breaks the network."""

    def close(self) -> None:
        """End, whether or not the run was completed."""


def choose_reporter(quiet: bool = False) -> Reporter:
    """Choose how to report: a bar on a terminal, lines elsewhere and under CI or NO_COLOR, nothing when quiet.

    In a notebook the bar is tqdm's, where it is installed. Returns a reporter that writes to stderr.
    """
    if quiet:
        return Silent()
    if in_notebook() and importlib.util.find_spec("tqdm") is not None:
        return NotebookBar()
    return Lines(sys.stderr) if plain_lines() else Bar(getattr(sys.stderr, "terminal", sys.stderr))


def plain_lines() -> bool:
    """Return whether progress is written as lines: not on a terminal, or under CI or NO_COLOR."""
    plain = os.environ.get("CI") or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return bool(plain) or not sys.stderr.isatty()


class Silent:
    """Reports nothing."""

    def start(self, total: int, done: int) -> None:
        """Begin."""

    def step(self, step: int, loss: float) -> None:
        """Ignore a step."""

    def evaluation(self, record: Mapping[str, object]) -> None:
        """Ignore an evaluation."""

    def sign(self, sentence: str) -> None:
        """Ignore a sign; the log and the card have it."""

    def close(self) -> None:
        """End."""


FIRST_SECONDS, MOST_SECONDS = 10.0, 300.0
"""How long plain lines are silent at first, and at most."""


class Lines:
    """Writes one line an evaluation, and between them one now and then, ever more rarely.

    Args:
        stream: where to.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.total = self._done = 0
        self._started = self._next = 0.0

    def start(self, total: int, done: int) -> None:
        """Report how long the run may become."""
        self.total, self._done, self._started = total, done, time.monotonic()
        self._next = self._started + FIRST_SECONDS
        after = f" after {done} done before" if done else ""
        self._write(f"training: up to {total} steps{after}")

    def step(self, step: int, loss: float) -> None:
        """Write one line if there was none for long."""
        if time.monotonic() >= self._next and (left := self._left(step)):
            self._write(f"step {step}/{self.total}  loss {loss:.4f}{left}")

    def evaluation(self, record: Mapping[str, object]) -> None:
        """Write one line."""
        self._write(f"step {record['step']}/{self.total}  {summary(record)}{self._left(record['step'])}")

    def sign(self, sentence: str) -> None:
        """Write one line."""
        self._write(f"warning: {sentence}.")

    def close(self) -> None:
        """End."""

    def _left(self, step: object) -> str:
        """Return how long the steps may take that are left, as long as those before; nothing where none is left."""
        if not isinstance(step, int) or not self._done < step < self.total:
            return ""
        seconds = (time.monotonic() - self._started) / (step - self._done) * (self.total - step)
        minutes = seconds / 60
        left = (
            f"{seconds:.0f} s"
            if seconds < 90
            else f"{minutes:.1f} min"
            if minutes < 10
            else f"{minutes:.0f} min"
        )
        return f"  at most {left} to go"

    def _write(self, line: str) -> None:
        now = time.monotonic()
        self._next = now + min(max(FIRST_SECONDS, 2 * (now - self._started)), MOST_SECONDS)
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

    def evaluation(self, record: Mapping[str, object]) -> None:
        """Write one line above the bar."""
        self._progress.console.print(
            f"step {record['step']}  {summary(record)}", highlight=False, markup=False
        )

    def sign(self, sentence: str) -> None:
        """Write one line above the bar."""
        self._progress.console.print(f"warning: {sentence}.", highlight=False, markup=False)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class NotebookBar:
    """Draws tqdm's bar in a notebook; evaluations stand beside it."""

    def __init__(self) -> None:
        self._bar: Any = None

    def start(self, total: int, done: int) -> None:
        """Draw the bar: a widget where they can be drawn, else text."""
        widgets = importlib.util.find_spec("ipywidgets") is not None
        kind = importlib.import_module("tqdm.notebook" if widgets else "tqdm.std").tqdm
        self._bar = kind(total=total, initial=done, desc="training")

    def step(self, step: int, loss: float) -> None:
        """Move the bar."""
        self._bar.set_postfix_str(f"loss {loss:.4f}", refresh=False)
        self._bar.update(step - self._bar.n)

    def evaluation(self, record: Mapping[str, object]) -> None:
        """Write one line."""
        self._bar.write(f"step {record['step']}  {summary(record)}")

    def sign(self, sentence: str) -> None:
        """Write one line."""
        self._bar.write(f"warning: {sentence}.")

    def close(self) -> None:
        """End the bar."""
        if self._bar is not None:
            self._bar.close()


def number_of(record: Mapping[str, object], name: str) -> float:
    """Return a number of an event; TypeError if it is none."""
    value = record[name]
    if not isinstance(value, int | float):
        raise TypeError(f"{name}: expected a number, got {value!r:.80}")
    return value


def summary(record: Mapping[str, object]) -> str:
    """Put an evaluation's record into one line.

    Returns Epoch, loss, metrics, what else was recorded, time; "best" at the end where it is the best so far.
    """
    aside = {"kind", "step", "seconds", "epoch", "best"}
    values = [
        f"{key} {figure(value)}"
        for key, value in record.items()
        if key not in aside and isinstance(value, float)
    ]
    said = [f"{key} {value}" for key, value in record.items() if key not in aside and isinstance(value, str)]
    minutes, seconds = divmod(round(number_of(record, "seconds")), 60)
    best = ["best"] if record.get("best") else []
    return "  ".join([f"epoch {record['epoch']:.2f}", *values, *said, f"{minutes}:{seconds:02d}", *best])


_PACKAGES = ("heedful", "torch", "numpy", "safetensors", "lightning-fabric")


class MetricsLog:
    """The events of a run, in memory and in ``metrics.jsonl``.

    Args:
        path: the file; None keeps the events in memory only.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.records: list[dict[str, object]] = []

    def restore(self, step: int, *, known: int | None = None) -> None:
        """Read the file back up to a step and drop what was written after it.

        Args:
            step: the step a checkpoint was taken at; later lines will be written anew.
            known: how many lines there were then; damage behind them does no harm. None if that is not known.

        Raises:
            ArtifactError: if it is no file, or a line that is needed is no JSON record.
            OutputError: if the file cannot be rewritten.
        """
        if self.path is None:
            return
        lines = self._lines()
        for number, line in enumerate(lines, start=1):
            record = _record(line)
            if record is None:
                # A killed run may leave its last line half written.
                if number == len(lines) or (known is not None and len(self.records) >= known):
                    break
                raise ArtifactError(
                    f"{self.path}, line {number}: expected a JSON record with a step. The weights do not depend on it: "
                    "put a whole copy in its place, or delete it, and resume without the records so far."
                )
            if number_of(record, "step") > step:
                break
            self.records.append(record)
        write_text(self.path, "".join(json.dumps(record) + "\n" for record in self.records))

    def _lines(self) -> list[bytes]:
        """Read the lines of the file; none if there is no file."""
        assert self.path is not None  # the caller looked
        try:
            return self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ArtifactError(
                f"{self.path}: expected a file with one JSON record a line; {error.strerror}. Move it away, and resume "
                "without the records so far."
            ) from error

    def write(self, record: Mapping[str, object]) -> None:
        """Append one event.

        Args:
            record: plain values with at least a step; a number that is not finite is written as null.

        Raises:
            OutputError: if it cannot be written.
        """
        plain = {key: _finite(value) for key, value in record.items()}
        self.records.append(plain)
        if self.path is not None:
            with plain_errors(self.path), self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(plain, allow_nan=False) + "\n")


def environment() -> dict[str, object]:
    """Describe what a run's numbers may depend on: versions, threads and machine type; no names, users or paths."""
    import torch

    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        **threads.settings(),
        "cuda": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        # some builds say in the module alone which one they are: 2.11.0+cu130
        "packages": {name: _version(name) for name in _PACKAGES} | {"torch": str(torch.__version__)},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _record(line: bytes) -> dict[str, object] | None:
    """Read one line of the log; None if it is damaged."""
    with suppress(ArtifactError):
        fields = Fields(parsed(line, "", dict), "")
        fields.whole("step")
        return dict(fields.record)
    return None


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass
class Cost:
    """Time spent.

    Attributes:
        seconds: by the clock.
        cpu_seconds: of the processor over all threads, in which other work on the machine hardly shows.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @classmethod
    def now(cls) -> Cost:
        """Return the readings of both clocks, of which only differences mean anything."""
        return cls(time.monotonic(), time.process_time())

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.cpu_seconds + other.cpu_seconds)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.seconds - other.seconds, self.cpu_seconds - other.cpu_seconds)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Add what the body takes, however it ends."""
        started = Cost.now()
        try:
            yield
        finally:
            total = self + (Cost.now() - started)
            self.seconds, self.cpu_seconds = total.seconds, total.cpu_seconds
