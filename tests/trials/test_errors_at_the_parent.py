"""Errors given to the parent of workers while it replaces one: the others answer meanwhile, and two stand again."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from served import Server, save_model, server
from tally import Outcome, Tally
from waiting import PATIENCE

pytest.importorskip("starlette")
pytest.importorskip("httptools")
TEXTS = {"texts": ["the film was superb", "", "dull"]}


@contextlib.contextmanager
def no_file_numbers(running: Server, place: Path) -> Iterator[None]:
    """Leave the parent no further file number while a worker dies."""
    limits = resource.prlimit(running.pid, resource.RLIMIT_NOFILE)
    taken = len(list(Path(f"/proc/{running.pid}/fd").iterdir()))
    resource.prlimit(running.pid, resource.RLIMIT_NOFILE, (taken - 2, limits[1]))
    os.kill(running.workers()[0], signal.SIGKILL)
    yield
    resource.prlimit(running.pid, resource.RLIMIT_NOFILE, limits)


@contextlib.contextmanager
def swept(running: Server, place: Path) -> Iterator[None]:
    """Remove the temporary folder before a worker dies."""
    for folder in place.glob("heedful-serve-*"):
        shutil.rmtree(folder)
    os.kill(running.workers()[0], signal.SIGKILL)
    yield


@contextlib.contextmanager
def stopped(running: Server, place: Path) -> Iterator[None]:
    """Stop a worker, which nobody ends."""
    os.kill(running.workers()[0], signal.SIGSTOP)
    yield


@contextlib.contextmanager
def no_memory(running: Server, place: Path) -> Iterator[None]:
    """Leave the parent no further memory while a worker dies."""
    limits = resource.prlimit(running.pid, resource.RLIMIT_AS)
    resource.prlimit(running.pid, resource.RLIMIT_AS, (1 << 20, limits[1]))
    os.kill(running.workers()[0], signal.SIGKILL)
    yield
    resource.prlimit(running.pid, resource.RLIMIT_AS, limits)


FAULTS = (no_file_numbers, swept, stopped, no_memory)


def answers_again(running: Server, before: set[int], expected: bytes) -> str:
    """Wait until two workers stand, one of them a new one; return what went wrong."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        now = set(running.workers())
        if len(now) == 2 and now != before and b"\nheedful_workers 2\n" in running.ask("/metrics").body:
            # Each worker is asked: three that are killed before they have answered a text end the server.
            same = all(running.ask("/v1/predict", TEXTS).body == expected for _ in range(16))
            return "" if same else "another answer"
        time.sleep(0.1)
    return "no two workers"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.replace("_", " "))
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the workers in /proc")
def test_errors_at_the_parent(fault: object, tmp_path: Path, tally: Tally) -> None:
    assert callable(fault)
    folder = save_model(tmp_path / "model")
    place = tmp_path / "temporary"
    place.mkdir()
    settings = ("--workers", "2", "--timeout", "10")
    with server(f"one={folder}", *settings, environment={"TMPDIR": str(place)}) as running:
        expected = running.ask("/v1/predict", TEXTS).body
        assert answers_again(running, set(), expected) == ""
        for number in range(tally.count(5)):
            before = set(running.workers())
            with fault(running, place):
                for _ in range(5):
                    with contextlib.suppress(OSError):  # the connection of the worker that is gone
                        running.ask("/health/live")
                time.sleep(tally.draw.uniform(0.0, 3.0))
            trouble = answers_again(running, before, expected)
            tally.add(
                Outcome("failed" if trouble else "right", f"fault {number}: {trouble}: {running.log[-5:]}")
            )
        assert running.stop() == 0, running.log
    assert list(place.glob("heedful-serve-*")) == []
