"""Tiny invented tasks of each kind as files, settings that learn them in seconds, and the command line in-process."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heedful.cli.main import run as run_command

GOOD = ("lovely", "fine", "superb", "charming", "bright", "warm")
BAD = ("dull", "dreary", "awful", "grim", "bleak", "sour")
NOUNS = ("film", "story", "meal", "song", "garden", "room", "journey", "letter")
FRAMES = ("The {} was {} .", "I found this {} {} .", "That {} , they said , is {} .")
ANIMALS = ("dog", "cat", "horse", "bird", "goat", "hen")
ACTIONS = ("runs", "sleeps", "eats", "sings")

SETTINGS = """
[data]
{data}
[model]
{model}
width = 16
hidden = 16
dropout = 0.1
[batches]
size = 16
[train]
{train}
epochs = 6
save_seconds = 0.0
[train.optimizer]
name = "adam"
lr = 0.02
"""

TEXT = SETTINGS.format(
    data='train = "text.csv"\ntest = "text-test.csv"\ntext = "text"\nlabel = "label"',
    model='task = "text"',
    train="",
)
POLARITY = SETTINGS.format(data='set = "cr"', model='task = "text"', train="")
PAIR = SETTINGS.format(
    data='train = "pair.tsv"\ntest = "pair-test.tsv"\npremise = "premise"\nhypothesis = "hypothesis"\nlabel = "label"',
    model='task = "pair"',
    train="",
)
SCORE = SETTINGS.format(
    data='train = "score.jsonl"\ntest = "score-test.jsonl"\n'
    'premise = "premise"\nhypothesis = "hypothesis"\nscore = "score"',
    model='task = "relatedness"\noutputs = 5\nactivation = "relu"',
    train='metric = "pearson"',
)


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    def json(self):
        """Read standard output as one JSON value."""
        return json.loads(self.out)


def run(*arguments: object) -> Result:
    """Run the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command([str(argument) for argument in arguments])
    return Result(int(code), out.getvalue(), err.getvalue())


def train_in(root: Path, recipe: str, settings: Mapping[str, object]) -> None:
    """Train with the data in a folder; the run is in ``root / "run"``."""
    changes = [f"--set={name}={value}" for name, value in settings.items()]
    result = run("train", recipe, "--data", root, "--out", root / "run", *changes, "--no-baseline")
    assert result.code == 0, result.err


def texts() -> list[tuple[str, str]]:
    """Return texts and their class, in an order that repeats for no seed."""
    words = [(word, "pos") for word in GOOD] + [(word, "neg") for word in BAD]
    rows = [(f.format(n, w), label) for f, n, (w, label) in itertools.product(FRAMES, NOUNS, words)]
    random.Random(1).shuffle(rows)
    return rows


def pairs() -> list[tuple[str, str, str]]:
    """Return pairs of sentences and whether they say the same."""
    rows = []
    for first, second, action, other in itertools.product(ANIMALS, ANIMALS, ACTIONS, ACTIONS):
        if (first == second) != (action == other):
            continue
        rows.append(
            (f"A {first} {action} .", f"The {second} {other} .", "same" if first == second else "other")
        )
    same = [row for row in rows if row[2] == "same"]
    rows = same * 4 + rows[: len(same) * 4]
    random.Random(2).shuffle(rows)
    return rows


def write_csv(path: Path, rows, header) -> Path:
    """Write rows as CSV, or TSV by the suffix."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def write_polarity(folder: Path, count: int) -> Path:
    """Write texts as the data set cr, which has no parts of its own, and settings of it into a folder."""
    (folder / "cr").mkdir(parents=True)
    lines = "".join(f"{int(label == 'pos')} {text}\n" for text, label in texts()[:count])
    (folder / "cr" / "custrev.all").write_text(lines, encoding="utf-8")
    (folder / "polarity.toml").write_text(POLARITY, encoding="utf-8")
    return folder


def write_tasks(folder: Path) -> Path:
    """Write the files and settings of the three tasks into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = texts()
    write_csv(folder / "text.csv", rows[:120], ["text", "label"])
    write_csv(folder / "text-test.csv", rows[120:160], ["text", "label"])
    both = pairs()
    half = 4 * len(both) // 5
    for name, part in (("", both[:half]), ("-test", both[half:])):
        grouped = [(*row, row[0].split()[1]) for row in part]
        write_csv(folder / f"pair{name}.tsv", grouped, ["premise", "hypothesis", "label", "animal"])
        records = [
            {"premise": p, "hypothesis": h, "score": 4.5 if label == "same" else 1.5} for p, h, label in part
        ]
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"score{name}.jsonl").write_text(lines, encoding="utf-8")
    for name, settings in (("text", TEXT), ("pair", PAIR), ("score", SCORE)):
        (folder / f"{name}.toml").write_text(settings, encoding="utf-8")
    return folder
