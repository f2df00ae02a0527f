"""What several processes of one server count: each leaves its counts in a file, and whoever is asked adds them up."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from pathlib import Path

from heedful.serving.counters import Counters, Gauges, Record

_UNREADABLE = (OSError, ValueError, KeyError, TypeError)


class SummedCounts:
    """The counts of the workers of a server.

    Args:
        folder: private to the server; holds one file a worker, which is replaced whole.
        number: of the worker that uses this object.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._own = folder, _file(folder, number)

    def go_on(self, counters: Counters) -> None:
        """Begin with the counts of the former worker of this number, so that no sum ever falls.

        Args:
            counters: of this worker.
        """
        with contextlib.suppress(*_UNREADABLE):  # there was none, or its disk was full
            counters.add(_read(self._own))

    def leave(self, counters: Counters, gauges: Gauges) -> None:
        """Write down what this worker has counted; if the disk is full, the former counts stay.

        Args:
            counters: of this worker.
            gauges: what stands now.
        """
        listed = [[name, model, value] for (name, model), value in gauges.items()]
        with contextlib.suppress(OSError):
            _write(self._own, {**counters.record(), "gauges": listed})

    def sums(self, counters: Counters, gauges: Gauges) -> tuple[Counters, Gauges]:
        """Add what the other workers have left to what this one counts.

        Args:
            counters: of this worker.
            gauges: of this worker.

        Returns:
            The sums of both.
        """
        total, standing = Counters(), Counter(gauges)
        total.add(counters.record())
        for file in self._folder.glob(_file(self._folder, "*").name):
            if file == self._own:
                continue
            with contextlib.suppress(*_UNREADABLE):
                left = _read(file)
                total.add(left)
                for name, model, value in left["gauges"]:
                    standing[name, model] += value
        return total, standing


def bury(folder: Path, number: int) -> None:
    """Take what stood at a worker that has ended out of the sums; what it has counted stays in them.

    Args:
        folder: see `SummedCounts`.
        number: of the worker.
    """
    file = _file(folder, number)
    with contextlib.suppress(*_UNREADABLE):
        _write(file, {**_read(file), "gauges": []})


def _file(folder: Path, number: int | str) -> Path:
    return folder / f"counts-{number}.json"


def _read(file: Path) -> Record:
    return dict(json.loads(file.read_bytes()))


def _write(file: Path, value: dict[str, object]) -> None:
    whole = file.with_suffix(".new")
    whole.write_text(json.dumps(value), encoding="ascii")
    os.replace(whole, file)
