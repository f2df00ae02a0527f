"""Predictions and the server of two commits, in turns, in float32 and int8: how many times as fast is the second?

    python -m heedful_lab.studies.predictions_of_two_commits c7e2665 HEAD --turns 3 --encoder disan

Each commit is checked out and compiled in a folder of its own, and makes its own model with random weights and 41,000
words. In each turn every model of every commit has a fresh process with one thread, and they are timed one after the
other in blocks of a few batches: 64 texts of 5 to 30 words that were not read before (with ``--texts`` of a file), 64
that were, one text of ten words, and two threads against one. A ratio is the median of those of blocks that were timed
one after the other, since the speed of a shared machine changes within a minute. With ``--server`` each int8 model is
then served by two workers, beside 64 clients on the same cores: requests a second, and milliseconds of the workers'
processor time a request.

Nothing else may run: all times but the last are those of the wall clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from heedful.tables import markdown_table
from heedful_lab.studies import predicting_alone
from heedful_lab.studies.load import CLIENTS, free_port, in_turn, request_of, seconds, served
from heedful_lab.studies.predicting_alone import KINDS
from heedful_lab.studies.two_commits import checked_out

REQUESTS = 3_000
NAMES = {
    "new": "64 new texts, ms",
    "again": "64 texts again, ms",
    "one": "one text of ten words, ms",
    "kept": "share of words that were kept",
    "threads": "two threads, times one",
    "rate": "server, two workers: requests a second",
    "processor": "server: ms of processor time a request",
}
Times = dict[tuple[str, str, str], list[float]]
"""What was measured, by what, which commit ("first", "second") and kind of numbers."""


def command(source: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs `predicting_alone` in a source tree, and its environment."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    return [sys.executable, str(predicting_alone.__file__), *arguments], environment


class Process:
    """A process that times a model of a commit, a block whenever it is asked.

    Args:
        source: the source tree of the commit.
        folder: of the model.
        texts: options that name a file of sentences; none for made ones.
    """

    def __init__(self, source: Path, folder: Path, texts: Sequence[str]) -> None:
        words, environment = command(source, "time", str(folder), *texts)
        pipe = subprocess.PIPE
        self._running = subprocess.Popen(words, env=environment, stdin=pipe, stdout=pipe, text=True)

    def measure(self, what: str, block: int) -> float | None:
        """Return what `predicting_alone.Timed` measures."""
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        self._running.stdin.write(f"{what} {block}\n")
        self._running.stdin.flush()
        figure: float | None = json.loads(self._running.stdout.readline())
        return figure

    def end(self) -> None:
        """Wait until it has ended."""
        self._running.communicate()


def turn(processes: Mapping[tuple[str, str], Process]) -> Times:
    """Time all models, block by block."""
    times: Times = {}
    for what, blocks in predicting_alone.Timed.BLOCKS.items():
        for block in range(blocks):
            for key, process in processes.items():
                figure = process.measure(what, block)
                if figure is not None and (block or blocks == 1):
                    times.setdefault((what, *key), []).append(figure)
    return times


def under_load(source: Path, folder: Path) -> tuple[float, float]:
    """Serve a model; return requests a second, and milliseconds of the workers' processor time a request."""
    port = free_port()
    os.environ["PYTHONPATH"], before = str(source), os.environ.get("PYTHONPATH", "")
    try:
        with served(["heedful", "serve", str(folder), "--port", str(port), "--workers", "2"], port) as pid:
            asked = [request_of(text) for text in predicting_alone.texts(REQUESTS, 4, 20)]
            asyncio.run(in_turn(port, asked[: REQUESTS // 3], CLIENTS))
            used = seconds(pid)
            rate = REQUESTS / asyncio.run(in_turn(port, asked, CLIENTS))
            return rate, 1e3 * (seconds(pid) - used) / REQUESTS
    finally:
        os.environ["PYTHONPATH"] = before


def table(times: Times) -> str:
    """Return the medians, and how many times as fast int8 of the second is as each kind of the first, in pairs."""
    rows = list[tuple[str, ...]]()
    for what, name in NAMES.items():
        found = {(commit, kind): figures for (each, commit, kind), figures in times.items() if each == what}
        if not found:
            continue
        cells = [f"{statistics.median(found[key]):.2f}" if key in found else "" for key in _COLUMNS]
        second = found.get(("second", "int8"), [])
        ratios = ["", ""]
        if what not in ("kept", "threads"):
            pairs = [list(zip(found.get(("first", kind), []), second, strict=False)) for kind in KINDS]
            ratios = [
                f"{statistics.median(new / old if what == 'rate' else old / new for old, new in each):.2f}"
                if each
                else ""
                for each in pairs
            ]
        rows.append((name, *cells, *ratios))
    header = (
        "",
        *(f"{commit}, {kind}" for commit, kind in _COLUMNS),
        *(f"times first {kind}" for kind in KINDS),
    )
    return "\n".join(markdown_table(header, rows))


_COLUMNS = [(commit, kind) for commit in ("first", "second") for kind in KINDS]


def main() -> None:
    """Print each turn, and the table of the medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("first", help="a commit, at least c7e2665")
    parser.add_argument("second", help="a commit")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--encoder", default="disan", help="disan, mtsa or mssan")
    parser.add_argument(
        "--texts", type=Path, help="sentences, one a line, in place of words drawn by Zipf's law"
    )
    parser.add_argument("--server", action="store_true", help="measure the server too")
    given = parser.parse_args()
    times: Times = {}
    texts = () if given.texts is None else ("--texts", str(given.texts.absolute()))
    with tempfile.TemporaryDirectory() as name:
        commits = {"first": given.first, "second": given.second}
        trees = {each: checked_out(commit, Path(name) / each) for each, commit in commits.items()}
        models = {each: Path(name) / f"models-{each}" for each in trees}
        for each, source in trees.items():
            words, environment = command(source, "make", str(models[each]), "--encoder", given.encoder)
            subprocess.run(words, env=environment, check=True)
        for number in range(given.turns):
            processes: dict[tuple[str, str], Process] = {
                (each, kind): Process(source, models[each] / kind, texts)
                for kind in KINDS
                for each, source in trees.items()
            }
            found = turn(processes)
            for process in processes.values():
                process.end()
            if given.server:
                for each, source in trees.items():
                    rate, processor = under_load(source, models[each] / "int8")
                    found["rate", each, "int8"], found["processor", each, "int8"] = [rate], [processor]
            for key, figures in found.items():
                times.setdefault(key, []).extend(figures)
            print(f"turn {number + 1}\n{table(found)}", flush=True)
    print(table(times))


if __name__ == "__main__":
    main()
