"""Predictions and the server of two commits, in turns, in float32 and int8: how many times as fast is the second?

    python -m heedful_lab.studies.predictions_of_two_commits c7e2665 HEAD --turns 3 --encoder disan

Each commit is checked out and compiled in a folder of its own, and makes its own model with random weights and 41,000
words. In each turn every model of every commit is timed in a fresh process with one thread: 64 texts of 5 to 30 words
that were not read before (with ``--texts`` of a file), 64 that were, one text of ten words, and two threads against
one. With ``--server`` each int8 model is then served by two workers, beside 64 clients on the same cores: requests a
second, and milliseconds of the workers' processor time a request.

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
from collections.abc import Mapping
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


def run(source: Path, *arguments: str) -> str:
    """Run `predicting_alone` in a source tree, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(predicting_alone.__file__), *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


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
    """Return the medians, and how many times as fast int8 of the second is as float32 and as int8 of the first."""
    rows = list[tuple[str, ...]]()
    for what, name in NAMES.items():
        found: Mapping[tuple[str, str], float] = {
            (commit, kind): statistics.median(values)
            for (each, commit, kind), values in times.items()
            if each == what
        }
        if not found:
            continue
        cells = [f"{found[key]:.2f}" if key in found else "" for key in _COLUMNS]
        second = found.get(("second", "int8"))
        ratios = ["", ""]
        if what not in ("kept", "threads") and second is not None:
            first = [found.get(("first", kind)) for kind in KINDS]
            ratios = [
                "" if x is None else f"{second / x if what == 'rate' else x / second:.2f}" for x in first
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
            run(source, "make", str(models[each]), "--encoder", given.encoder)
        for turn in range(given.turns):
            for kind in KINDS:
                for each, source in trees.items():
                    found = json.loads(run(source, "time", str(models[each] / kind), *texts))
                    if given.server and kind == "int8":
                        found["rate"], found["processor"] = under_load(source, models[each] / kind)
                    for what, value in found.items():
                        times.setdefault((what, each, kind), []).append(value)
                    print(f"turn {turn + 1}, {each}, {kind}: {json.dumps(found)}", flush=True)
    print(table(times))


if __name__ == "__main__":
    main()
