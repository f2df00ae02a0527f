"""Measure the largest memory of ``heedful predict``, ``encode`` and ``evaluate`` on files of more and more lines.

    python -m heedful_lab.studies.stream_memory --rows 100000,1000000,10000000

It trains a tiny model (4 numbers a word, their mean, one hidden layer) on invented sentences, writes a file of so many
of them, runs each command on it in a process of its own with one thread, and prints the largest resident memory that
the system saw (VmHWM). Files are removed again. ``--commands scores`` is ``heedful evaluate`` with a model that gives
a number.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOOD, BAD = ("lovely", "fine", "superb", "warm"), ("dull", "awful", "grim", "sour")
NOUNS = ("film", "story", "meal", "song", "garden", "room", "journey", "letter")


def sentences() -> list[tuple[str, str]]:
    """Return invented reviews and their labels."""
    words = [(word, "good") for word in GOOD] + [(word, "bad") for word in BAD]
    return [(f"The {noun} was {word} .", label) for noun, (word, label) in itertools.product(NOUNS, words)]


def train(folder: Path, recipe: str) -> Path:
    """Train a tiny model, and return its folder."""
    lines = ["text,label,score", *(f"{text},{label},{len(text)}" for text, label in sentences())]
    (folder / "train.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = (
        "data.train=train.csv",
        "model.encoder=embedding",
        "model.pooling=mean",
        "model.width=4",
        "model.hidden=4",
        *(["model.wide=none"] if recipe == "my-texts" else []),
        "train.epochs=8",
        "train.optimizer.lr=0.02",
        "train.device=cpu",
    )
    words = [
        sys.executable,
        "-m",
        "heedful",
        "train",
        recipe,
        "--data",
        str(folder),
        "--no-baseline",
        "-q",
    ]
    words += ["--out", str(folder / recipe), *(word for one in settings for word in ("--set", one))]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return folder / recipe


def write_table(path: Path, rows: int) -> None:
    """Write a CSV file of so many rows, each other than the one before it."""
    kinds = sentences()
    with path.open("w", encoding="utf-8") as stream:
        stream.write("id,text,label,score\n")
        for row in range(rows):
            text, label = kinds[row % len(kinds)]
            stream.write(f"{row},{text},{label},{len(text) + row * 7919 % 1000 / 100}\n")


def run(words: list[str]) -> tuple[float, float]:
    """Run a command of heedful; return its seconds and its largest memory in MB."""
    started = time.monotonic()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "heedful", *words], env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"heedful {' '.join(words)}: exit status {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - started, usage.ru_maxrss / 1024


def main() -> None:
    """Measure, and print one line of JSON for each run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", default="100000,1000000")
    parser.add_argument("--commands", default="predict,encode,evaluate")
    parser.add_argument(
        "--folder", type=Path, help="Where the files are written for as long as they are needed."
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        model, table = str(train(folder, "my-texts")), folder / "rows.csv"
        scorer = str(train(folder, "my-numbers"))
        for rows in map(int, options.rows.split(",")):
            write_table(table, rows)
            commands = {
                "predict": ["predict", model, "--input", str(table), "--output", str(folder / "out.csv")],
                "encode": ["encode", model, "--input", str(table), "--output", str(folder / "out.npy")],
                "evaluate": [
                    "evaluate",
                    model,
                    str(table),
                    "--column",
                    "text=text",
                    "--column",
                    "label=label",
                ],
                "scores": ["evaluate", scorer, str(table)],
            }
            for name in options.commands.split(","):
                seconds, megabytes = run(commands[name])
                found = {"command": name, "rows": rows, "seconds": round(seconds), "MB": round(megabytes)}
                print(json.dumps(found), flush=True)
                for file in folder.glob("out.*"):
                    file.unlink()


if __name__ == "__main__":
    main()
