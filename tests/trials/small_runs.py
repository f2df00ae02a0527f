"""Commands that train something tiny, and what must be the same however often they were cut off."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tiny
from attempts import Ended, Process, Started
from forked import Forked
from heedful.storage import TEMPORARY

SETTINGS = (
    "model.width=8",
    "model.hidden=8",
    "train.device=cpu",
    "train.log_every=1",
    "train.save_steps=3",
    "train.patience=0",
)
TABLE = ("disan-table5", "--columns", "cr-honest", "--rows", "disan", "--folds", "2")
"""A table of one row and column, whose two runs need no word vectors once `PLAIN` is set."""
PLAIN = (
    "text.vectors=",
    "text.baseforms=",
    "batches.size=8",
    "train.optimizer.lr=0.02",
    "model.dropout=0.1",
)

WORKING = 120.0
"""Seconds of processor time for a command that trains, and twice as many of wall time before it is taken to hang."""

Result = Callable[[Path], Any]


def write_data(folder: Path) -> Path:
    """Write the data of all commands here; returns the folder."""
    tiny.write_tasks(folder)
    tiny.write_polarity(folder / "polarity", 60)
    return folder


@dataclass(frozen=True)
class Command:
    """A command that goes on where it was cut off.

    Attributes:
        name: what it is called.
        words: after ``heedful``, but for the folder it writes.
        again: further words of every start after the first.
        result: what must be the same, from the folder it wrote.
        real: whether it runs as ``python -m heedful``, else forked.
        to: the option that names the folder it writes.
    """

    name: str
    words: tuple[str, ...]
    result: Result
    again: tuple[str, ...] = ()
    real: bool = False
    to: str = "--out"

    def start(self, folder: Path, *more: str, **options: Any) -> Started:
        """Start it, or go on with it."""
        again = self.again if folder.exists() else ()
        words = (*self.words, *again, *more, self.to, folder)
        return Process(*words, **options) if self.real else Forked(*words, **options)

    def run(self, folder: Path, *more: str, **options: Any) -> Ended:
        """Run it to its end."""
        return self.start(folder, *more, **options).wait(2 * WORKING)


def train(data: Path, *, real: bool = False, epochs: int = 6) -> Command:
    """``heedful train``, 7 steps an epoch."""
    words = ("train", f"{data}/text.toml", "--data", f"{data}", "--quiet", *_set(f"train.epochs={epochs}"))
    return Command("train", words, trained, ("--resume",), real)


def study(data: Path) -> Command:
    """``heedful study`` over two seeds."""
    words = ("study", f"{data}/text.toml", "--data", f"{data}", "--quiet", "--seeds", "1,2", *_set())
    return Command("study", words, studied)


def tune(data: Path, jobs: int = 1) -> Command:
    """``heedful tune`` with three trials."""
    vary = ("--trials", "3", "--vary", "train.optimizer.lr=1e-3..1e-1:log", "--jobs", f"{jobs}")
    words = ("tune", f"{data}/text.toml", "--data", f"{data}", "--quiet", *vary, *_set("train.epochs=3"))
    return Command("tune", words, searched)


def reproduce(data: Path) -> Command:
    """``heedful reproduce`` of one row over two folds."""
    words = ("reproduce", *TABLE, "--data", f"{data}/polarity", "--quiet", *_set(*PLAIN))
    return Command("reproduce", words, reproduced)


def predict(data: Path) -> Command:
    """``heedful predict`` for twelve files, with two processes."""
    run, parts = data / "predicting", data / "parts"
    if not parts.exists():
        words = ("--data", data, "--out", run, "--quiet", "--no-baseline", *_set("train.epochs=1"))
        assert tiny.run("train", data / "text.toml", *words).code == 0
        parts.mkdir()
        texts = [text for text, _ in tiny.texts()]
        for part in range(12):
            rows = [(part, row, texts[(part + row) % len(texts)]) for row in range(500)]
            tiny.write_csv(parts / f"part-{part:02}.csv", rows, ["part", "row", "text"])
    words = ("predict", f"{run}", "--input", f"{parts}/part-*.csv", "--jobs", "2")
    return Command("predict", words, predicted, to="--output")


def _set(*more: str) -> tuple[str, ...]:
    return tuple(word for setting in (*SETTINGS, *more) for word in ("--set", setting))


def trained(folder: Path) -> Any:
    """Return the SHA-256 of the weights, and the log without its times."""
    weights = (folder / "model" / "weights.safetensors").read_bytes()
    return hashlib.sha256(weights).hexdigest(), _log(folder)


def studied(folder: Path) -> Any:
    """Return each run's answers and figures of the dev and test part."""
    kept = {file.name: json.loads(file.read_text()) for file in sorted(folder.rglob("*=*.json"))}
    assert kept, f"no finished run in {folder}"
    return {name: (run["answers"], _figures(run["figures"])) for name, run in kept.items()}


def searched(folder: Path) -> Any:
    """Return the best recipe, and setting and score of each trial that ended."""
    rows = list(csv.DictReader((folder / "trials.csv").read_text().splitlines()))
    ended = {row["train.optimizer.lr"]: row["score"] for row in rows if row["state"] == "complete"}
    return (folder / "best.toml").read_text(), ended


def reproduced(folder: Path) -> Any:
    """Return what the runs gave, and the table's figures."""
    rows = csv.DictReader((folder / f"{TABLE[0]}-part.csv").read_text().splitlines())
    timeless = ("row", "column", "mean", "deviation", "values", "runs", "parameters")
    return studied(folder / "runs"), [[row[name] for name in timeless] for row in rows]


def predicted(folder: Path) -> Any:
    """Return every file of predictions with its SHA-256, and the number of rows of all."""
    files = {path.name: path.read_bytes() for path in folder.glob("*.csv")}
    rows = sum(content.count(b"\n") - 1 for content in files.values())
    assert (len(files), rows) == (12, 6_000), f"{len(files)} files with {rows} rows"
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def _figures(figures: dict[str, Any]) -> Any:
    return {part: figures[part]["metrics"] for part in ("dev", "test")}, figures["steps"]


def _log(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


def leftovers(folder: Path) -> list[str]:
    """Return the names of half-written files and folders."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(f"{TEMPORARY}*"))


def copy(folder: Path, to: Path) -> Path:
    """Copy a folder, in the place of what is there."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(folder, to))


def wait_until(condition: Callable[[], bool], process: Started, limit: float = 60.0) -> None:
    """Wait until something holds, the process has ended, or the time is over."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline and process.alive():
        try:
            if condition():
                return
        except FileNotFoundError:  # a folder went away while it was looked through
            continue
        time.sleep(0.001)
