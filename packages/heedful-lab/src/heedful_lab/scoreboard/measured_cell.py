"""One cell: a system is trained on drawn labels, and its answers, their probabilities and their time are measured."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from heedful.evaluation import calibration
from heedful_lab.scoreboard.cell_file import Cell, Group
from heedful_lab.scoreboard.drawn_labels import Drawn

ALONE, ALONE_SECONDS = 200, 5.0
"""Texts that are answered one at a time at most, and the seconds after which no further one is begun."""
WARM = 3
"""Answers before time is taken."""
LEAST = 20
"""Texts that are answered one at a time at least."""


class Entry(Protocol):
    """A trained system as it would be put to use."""

    @property
    def megabytes(self) -> float:
        """What the model takes on disk."""

    @property
    def installed(self) -> float:
        """Megabytes of the model and of the packages that it needs to predict."""

    @property
    def parameters(self) -> int:
        """Trained numbers of a network; 0 where there is none."""

    def scores(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return logits whose softmax are the probabilities that the system states, [N, Y]."""


class Entrant(Protocol):
    """A system that can be trained."""

    @property
    def name(self) -> str:
        """For tables."""

    @property
    def group(self) -> Group:
        """What kind of system it is."""

    def is_kept(self, drawn: Drawn) -> bool:
        """Return whether it need not be trained for long to be there again."""

    def train(self, drawn: Drawn) -> tuple[Entry, float]:
        """Train on the drawn labels.

        Args:
            drawn: the data; the test split is not touched.

        Returns:
            The trained system, and the processor seconds of its training.
        """


@dataclass(frozen=True)
class Times:
    """What a trained system takes.

    Attributes:
        ms: see `Cell.ms`.
        texts_per_second: see `Cell.texts_per_second`.
        train_seconds: see `Cell.train_seconds`.
    """

    ms: float = 0.0
    texts_per_second: float = 0.0
    train_seconds: float = 0.0


def timed_again(entrant: Entrant, drawn: Drawn) -> Times:
    """Take the times of a system whose training is kept or short; what it answers is not compared.

    Args:
        entrant: the system.
        drawn: the data.

    Returns:
        The times.
    """
    entry, seconds = entrant.train(drawn)
    return _times(entry, [text for (text,) in drawn.test.texts], seconds)[1]


def _times(entry: Entry, texts: Sequence[str], seconds: float) -> tuple[NDArray[np.float64], Times]:
    """Return what a system answers, and what that takes on one thread."""
    with one_thread():
        started = time.process_time()
        scores = entry.scores(texts)
        taken = max(time.process_time() - started, 1e-9)
        return scores, Times(1e3 * _median_alone(entry, texts), len(texts) / taken, seconds)


def measured(entrant: Entrant, drawn: Drawn, *, takes_times: bool = True) -> Cell:
    """Train a system and measure it.

    Args:
        entrant: the system.
        drawn: the data.
        takes_times: whether times are taken too; on a machine with other work they say little.

    Returns:
        The cell.
    """
    entry, seconds = entrant.train(drawn)
    texts, times = [text for (text,) in drawn.test.texts], Times()
    if takes_times:
        scores, times = _times(entry, texts, seconds)
    else:
        scores = entry.scores(texts)
    gold = drawn.test.classes
    known = calibration(scores, gold, 1.0).before
    return Cell(
        data=drawn.data,
        labels=drawn.labels,
        seed=drawn.splits.seed,
        system=entrant.name,
        group=entrant.group,
        rows=len(drawn.splits.train),
        tested=len(texts),
        right=int((scores.argmax(axis=1) == gold).sum()),
        ece=known.ece,
        log_loss=known.nll,
        ms=times.ms,
        texts_per_second=times.texts_per_second,
        megabytes=entry.megabytes,
        installed=entry.installed,
        train_seconds=times.train_seconds,
        parameters=entry.parameters,
    )


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch, the kernels and linear algebra compute on one thread within a ``with`` block."""
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def _median_alone(entry: Entry, texts: Sequence[str]) -> float:
    """Return the median processor seconds of one text by itself, evenly drawn from the test texts."""
    step = max(1, len(texts) // ALONE)
    chosen = list(texts[::step])[:ALONE]
    for text in chosen[:WARM]:
        entry.scores([text])
    began, found = time.perf_counter(), list[float]()
    for text in chosen:
        started = time.process_time()  # of one thread that is what a clock shows where nothing else works
        entry.scores([text])
        found.append(time.process_time() - started)
        if len(found) >= LEAST and time.perf_counter() - began > ALONE_SECONDS:
            break
    return float(np.median(found))
