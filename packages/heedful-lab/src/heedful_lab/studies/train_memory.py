"""Measure the largest memory of ``heedful train`` on files of more and more rows of about 20 words.

    python -m heedful_lab.studies.train_memory --data DIR --rows 10000,100000,1000000

The rows are pieces of MultiNLI's sentences, put together at random, with the label of the first; a tenth of the labels
is drawn anew. Each file is trained on by the recipe for own data in a process of its own with one thread. It prints the
largest resident memory that the system saw (VmHWM), a line of JSON for each run; files are removed again.
``--steps 20`` ends the network's training early, on which the memory does not depend: 0 trains to the end.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
from pathlib import Path

from heedful.data import catalog
from heedful_lab.studies.stream_memory import run

WORDS, SHORTEST, LONGEST = 20, 3, 9


def pieces(root: Path) -> dict[str, list[list[str]]]:
    """Return the words of the sentences of MultiNLI by their label."""
    found: dict[str, list[list[str]]] = {}
    for example in catalog.load("multinli", "train-part", root).examples:
        found.setdefault(str(example.target), []).extend(
            text.split() for text in example.texts if text.strip()
        )
    return found


def write_rows(path: Path, count: int, pool: dict[str, list[list[str]]]) -> None:
    """Write a CSV file of so many rows; the same ones for the same count."""
    draw, names = random.Random(0), sorted(pool)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "label"])
        for _ in range(count):
            name, words = draw.choice(names), list[str]()
            while len(words) < WORDS:
                source, size = draw.choice(pool[name]), draw.randint(SHORTEST, LONGEST)
                start = draw.randrange(max(1, len(source) - size))
                words += source[start : start + size]
            label = name if draw.random() > 0.1 else draw.choice(names)
            writer.writerow([" ".join(words[: draw.randint(WORDS - 3, WORDS + 3)]), label])


def main() -> None:
    """Measure, and print one line of JSON for each run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="The folder of data sets, which has MultiNLI."
    )
    parser.add_argument("--rows", default="10000,100000")
    parser.add_argument(
        "--steps", type=int, default=0, help="Steps of the network; 0 for as many as the recipe has."
    )
    parser.add_argument("--no-baseline", action="store_true", help="Train no simple models beside the run.")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="A setting of the run."
    )
    options = parser.parse_args()
    pool = pieces(options.data)
    settings = [
        *options.set,
        *([f"train.max_steps={options.steps}", "train.epochs=0"] if options.steps else []),
    ]
    with tempfile.TemporaryDirectory() as place:
        for rows in map(int, options.rows.split(",")):
            table = Path(place) / f"{rows}.csv"
            write_rows(table, rows, pool)
            words = [
                "train",
                str(table),
                "--out",
                str(Path(place) / "run"),
                "--overwrite",
                "--no-cache",
                "-q",
            ]
            words += ["--no-baseline"] * options.no_baseline + [
                part for one in settings for part in ("--set", one)
            ]
            seconds, megabytes = run(words)
            print(json.dumps({"rows": rows, "seconds": round(seconds), "MB": round(megabytes)}), flush=True)
            table.unlink()


if __name__ == "__main__":
    main()
